"""Thousands of damaged files of every kind: each is read or reported in one line; checksummed files are never misread."""

import random
import resource
import shutil
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from concord.errors import UserError

from .counts import Counts
from .formats import FORMATS, Format, Told
from .mutations import flip_bit, mutate

PATIENCE = 30  # CPU seconds for one file; a busy machine is not a fault
MEMORY = 6 << 30  # bytes of address space beyond what is already used


def damage_files(count: int, chosen: Sequence[str] = (), seed: int = 0) -> Iterator[Counts]:
    """Every kind of file, with random changes."""
    for name, made in FORMATS.items():
        if not chosen or name in chosen:
            yield _attack(name, made, count, seed, mutate)


def flip_bits(count: int, chosen: Sequence[str] = (), seed: int = 0) -> Iterator[Counts]:
    """Every checksummed kind of file, with one flipped bit."""
    for name, made in FORMATS.items():
        if made.checked and (not chosen or name in chosen):
            yield _attack(f"{name} (1 bit)", made, count, seed, flip_bit)


def _attack(name: str, made: Format, count: int, seed: int, change: Callable[[bytes, random.Random], bytes]) -> Counts:
    counts, draw = Counts(name), random.Random(seed)
    signal.signal(signal.SIGPROF, _too_long)
    with tempfile.TemporaryDirectory() as place:
        file = made.sample(Path(place))
        intact, before = file.read_bytes(), made.read(file)
        started = time.perf_counter()
        for number in range(count):
            damaged = change(intact, draw)
            file.write_bytes(damaged)
            problem = _read(made, file, before, counts)
            if problem:
                kept = (
                    Path(tempfile.gettempdir())
                    / f"concord-fault-{name.replace(' ', '-').replace(':', '').replace('/', '-')}-{number}"
                )
                shutil.copy(file, kept)
                counts.fail(f"{problem} ({kept})")
        counts.seconds = time.perf_counter() - started
    return counts


def _is_one_line(said: str) -> bool:
    """Only a suite formula is shown below the line, with a caret under the offending place."""
    _, *below = said.split("\n")
    return not below or [each.strip() for each in below[1:]] == ["^"]


def _too_long(*_: object) -> None:
    raise TimeoutError(f"not read within {PATIENCE} s")


def _read(made: Format, file: Path, before: object, counts: Counts) -> str:
    """What went wrong, if anything."""
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        with _BoundedMemory():
            found = made.read(file)
    except (UserError, Told) as error:
        counts.told += 1
        return "" if _is_one_line(str(error)) else f"several lines: {str(error)!r}"
    except Exception as error:  # whatever it is, it is what we are looking for
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {str(error)[:80]} at {Path(place.filename).name}:{place.lineno}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    counts.harmless += 1
    return "read as something else" if made.checked and found != before else ""


class _BoundedMemory:
    """A file that asks for all memory gets only some of it."""

    def __enter__(self) -> None:
        self.limits = resource.getrlimit(resource.RLIMIT_AS)
        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, self.limits[1]))

    def __exit__(self, *_: object) -> None:
        resource.setrlimit(resource.RLIMIT_AS, self.limits)

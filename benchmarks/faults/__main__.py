"""`python -m benchmarks.faults [settings] [files] [bits] [signals] [disks] [--count N] [--small]`: tried, told, harmless, failed.

The defaults are those for a release: 2,000 settings, 3,000 damaged files and 200 flipped bits of each kind, 20 moments for
each kind of run, five levels of a full disk (needs root; otherwise it says that it cannot).
"""

import argparse
import sys
import warnings
from collections.abc import Iterable

from .counts import Counts

WHOLE = {"settings": 2000, "files": 3000, "bits": 200, "signals": 20, "disks": 5}
SMALL = {"settings": 5, "files": 3, "bits": 3, "signals": 0, "disks": 1}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description=__doc__)
    parser.add_argument("kinds", nargs="*", choices=[*WHOLE, []], help="which faults (default: all)")
    parser.add_argument("--only", action="append", default=[], metavar="KIND", help="only this kind of file or run")
    parser.add_argument("--count", type=int, help="how many of each")
    parser.add_argument("--small", action="store_true", help="a few of each, in seconds: a smoke test")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    failed, tried = 0, False
    for kind in asked.kinds or WHOLE:
        count = asked.count or (SMALL if asked.small else WHOLE)[kind]
        for counts in attacks(kind, count, asked.only) if count else []:
            print(counts, flush=True)
            failed, tried = failed + counts.failed, True
    if asked.only and not tried:
        parser.error(f"--only {' '.join(asked.only)}: none of {', '.join(asked.kinds or WHOLE)} has this kind")
    print(f"{failed:,} failed")
    return int(failed > 0)


def attacks(kind: str, count: int, only: list[str]) -> Iterable[Counts]:
    """Imported on demand: files need no training, and signals no transformers."""
    if kind == "settings":
        from .typed_settings import type_settings

        return type_settings(count)
    if kind in ("files", "bits"):
        from .damaged_files import damage_files, flip_bits

        return damage_files(count, only) if kind == "files" else flip_bits(count, only)
    if kind == "signals":
        from .signals import stop_runs

        return stop_runs(count, only)
    from .full_disks import LEVELS, can_mount, fill_disks

    if not can_mount():
        print("full disks: left out, since mounting a small disk needs root")
        return []
    return fill_disks(LEVELS[:count])


if __name__ == "__main__":
    sys.exit(main())

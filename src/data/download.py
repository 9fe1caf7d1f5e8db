"""Files from the network: fetched once, all or nothing, and recognised by size and checksum.

While being fetched a file is `<name>.part`; under its own name it is complete. `<name>.json` beside it records where it came
from, its size and its checksum when it was first complete.
"""

import hashlib
import http.client
import json
import logging
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from email.message import Message
from pathlib import Path

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from ..errors import UserError
from ..files import lock, write_atomically
from ..places import cache_folder, is_offline
from ..settings.run import PathSettings
from ..terminal import console

log = logging.getLogger(__name__)
# Failures that may pass: trying again can help.
PASSING = {408, 425, 429, 500, 502, 503, 504}
BLOCK = 1 << 18
PAGES = ("text/html", "application/xhtml+xml")


class DownloadError(UserError):
    """A file that cannot be fetched: the address, the reason, what to do."""


class _Passing(Exception):
    """A failure that may be gone a moment later."""

    def __init__(self, reason: object, wait: float = 0, in_vain: bool = False) -> None:
        super().__init__(str(reason))
        self.wait = wait
        self.in_vain = in_vain  # counts as an attempt without progress, whatever it brought


@dataclass(frozen=True)
class Record:
    """A file as it was when first complete."""

    url: str
    size: int
    sha256: str

    def same(self, other: "Record") -> bool:
        """The same content, wherever it came from."""
        return (self.size, self.sha256) == (other.size, other.sha256)


@dataclass(frozen=True)
class Patience:
    """How often to retry without progress, how long to wait before each retry (doubling), and how long for an answer."""

    retries: int = 6
    pause: float = 1.0
    longest: float = 60.0
    timeout: float = 30.0
    slowest: float = 1024.0  # bytes per second, over the time of `timeout`

    def before(self, attempt: int, asked: float) -> float:
        """Seconds to wait; a server's own request is respected, within reason."""
        return min(max(self.pause * 2**attempt, asked), self.longest)


PATIENT = Patience()


@dataclass(frozen=True)
class Downloads:
    """Where downloads are kept, whether the network may be used, and how patiently."""

    folder: Path
    allowed: bool = True
    patience: Patience = PATIENT


def default_downloads() -> Downloads:
    """The default: the user's cache, and CONCORD_OFFLINE."""
    return Downloads(cache_folder("downloads"), not is_offline())


def downloads_for(paths: PathSettings) -> Downloads:
    """According to the settings of a run or an evaluation."""
    return Downloads(paths.fetched, paths.may_download)


def record_of(file: Path) -> Record | None:
    """What is known about a fetched file; it need not exist any more."""
    try:
        return Record(**json.loads(_record(file).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError):
        raise DownloadError(f"{_record(file)}: this record of a download is damaged; remove it and {file.name}") from None


def fetch(url: str, file: Path, offline: bool = False, patience: Patience = PATIENT, expected: Record | None = None) -> Record:
    """The file, from the network if it is missing. Many processes may ask at once.

    `expected` is what is known beforehand; otherwise the first download sets what it must be from then on.
    """
    with lock(file.with_name(f"{file.name}.lock")):
        known = expected or record_of(file)
        if not file.exists():
            if offline:
                raise DownloadError(f"{url}: not fetched because the network is switched off; put the file at {file}")
            _fetch_all(url, _part(file), patience)
            _check_content(url, _part(file))
            found = _measure(url, _part(file))
            if known is not None and not known.same(found):
                _part(file).unlink()
                if expected is not None:
                    raise DownloadError(_surprise_message(url, expected, found))
                raise DownloadError(_change_message(url, known, found, f"if the new one is right, remove {_record(file)}"))
            os.replace(_part(file), file)
            _forget_version(file)
            _write_record(file, found)
            return found
        if known is None:  # put there by hand, or we were stopped just before recording it
            known = _measure(url, file)
        if record_of(file) is None:
            _write_record(file, known)
        if _size(file) != known.size:
            verify(file)
        return known


def verify(file: Path) -> None:
    """Check that a fetched file is still what it was when first complete."""
    known = record_of(file)
    if known is not None:
        found = _measure(known.url, file)
        if not known.same(found):
            raise DownloadError(_change_message(str(file), known, found, f"remove it, and it will be fetched again: rm {file}"))


def _surprise_message(url: str, expected: Record, found: Record) -> str:
    if expected.size != found.size:
        what = f"{found.size:,} bytes arrived, but {expected.size:,} were expected"
    else:
        what = f"unexpected content arrived (checksum {found.sha256[:12]}, not {expected.sha256[:12]})"
    return f"{url}: {what}; nothing is kept. Something on the way changes files (a proxy, a mirror): try from another network"


def is_record(file: Path) -> bool:
    """Whether a file is not data, but the record of a download beside it."""
    return file.suffix == ".json" and file.with_suffix("").is_file()


def _change_message(what: str, known: Record, found: Record, remedy: str) -> str:
    if known.size != found.size:
        return f"{what}: {found.size:,} bytes, but it had {known.size:,} when it was first fetched; {remedy}"
    return (
        f"{what}: the content has changed since the first fetch (checksum {found.sha256[:12]}, was {known.sha256[:12]}); {remedy}"
    )


def _fetch_all(url: str, part: Path, patience: Patience) -> None:
    """Retry until the file is complete; what has arrived stays, and only attempts without progress are counted."""
    attempt, most = 0, _size(part)
    with _bar(part.stem) as bar:
        while True:
            try:
                _fetch_rest(url, part, patience, bar)
            except _Passing as failure:
                attempt = 0 if _size(part) > most and not failure.in_vain else attempt + 1
                most = max(most, _size(part))
                if attempt > patience.retries:
                    raise DownloadError(
                        f"{url}: {failure}, {attempt} times in a row. Try again later: what has arrived is kept. "
                        f"Without a network, fetch it elsewhere and put it at {part.with_suffix('')}"
                    ) from None
                time.sleep(patience.before(attempt, failure.wait))
            else:
                return


def _fetch_rest(url: str, part: Path, patience: Patience, bar: "_Bar") -> None:
    """One request for what is still missing."""
    have, version = _size(part), _version(part)
    headers = {"Accept-Encoding": "identity", "User-Agent": "concord"}
    if have and version:
        # Only if the file there is still the one we have started; otherwise the server sends all of it.
        headers |= {"Range": f"bytes={have}-", "If-Range": version}
    try:
        # A new opener, so that the current proxies are used (http_proxy, https_proxy, no_proxy).
        opener = urllib.request.build_opener()
        with opener.open(urllib.request.Request(url, headers=headers), timeout=patience.timeout) as answer:  # noqa: S310
            _check_headers(url, answer.headers)
            _store(answer, part, have, patience, bar)
    except urllib.error.HTTPError as error:
        _raise_refusal(error, url, part)
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
        raise _Passing(getattr(error, "reason", None) or error or type(error).__name__) from None
    except ValueError as error:  # urllib's error for an invalid address
        raise DownloadError(f"{url}: not an address ({error})") from None


def _store(answer: http.client.HTTPResponse, part: Path, have: int, patience: Patience, bar: "_Bar") -> None:
    continued = answer.status == 206
    if continued and not (answer.headers.get("Content-Range") or f"bytes {have}-").startswith(f"bytes {have}-"):
        part.unlink()
        raise _Passing("the server sent a different part than requested")
    start = have if continued else 0
    announced = _whole_number(answer.headers.get("Content-Length"))
    total = start + announced if announced is not None else None
    if not continued:
        _note_version(part, answer.headers.get("ETag") or answer.headers.get("Last-Modified") or "")
    with part.open("ab" if continued else "wb") as stream:
        bar.show(start, total)
        since, before = time.monotonic(), start
        while block := answer.read1(BLOCK):
            stream.write(block)
            bar.show(stream.tell(), total)
            if (now := time.monotonic()) - since >= patience.timeout:
                if (speed := (stream.tell() - before) / (now - since)) < patience.slowest:
                    raise _Passing(f"only {speed:,.0f} bytes per second arrive", in_vain=True)
                since, before = now, stream.tell()
        arrived = stream.tell()
    if total is not None and arrived < total:
        raise _Passing(f"cut off after {arrived:,} of {total:,} bytes")


def _raise_refusal(error: urllib.error.HTTPError, url: str, part: Path) -> None:
    if error.code == 416:  # we have more than there is: start again
        part.unlink(missing_ok=True)
        raise _Passing("the file there has changed") from None
    if error.code not in PASSING:
        raise DownloadError(f"{url}: the server answers {error.code} {error.reason}; check the address (data.address)") from None
    wait = _whole_number(error.headers.get("Retry-After")) or 0  # it may also be a date, which is not waited for
    raise _Passing(f"the server answers {error.code} {error.reason}", wait) from None


def _whole_number(text: str | None) -> int | None:
    """A header's number of seconds or bytes, if it is a number."""
    return int(text) if text and re.fullmatch(r"[0-9]{1,15}", text.strip()) else None


def _check_headers(url: str, headers: Message) -> None:
    """Reject an answer that cannot be the file, before any of it is kept."""
    if (kind := headers.get_content_type()) in PAGES and not url.endswith((".html", ".htm")):
        raise DownloadError(f"{url}: the server sends a web page ({kind}), not a file; open the address in a browser to see why")
    encoding = headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        raise DownloadError(f"{url}: the server sends it encoded ({encoding}), though asked not to; fetch it by hand")


def _check_content(url: str, part: Path) -> None:
    """Whether what has arrived can be the file at all; if not, it is not kept."""
    with part.open("rb") as stream:
        start = stream.read(512)
    name = part.name.removesuffix(".part")
    if not start:
        wrong = "an empty file"
    elif start.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith((b"<!doctype html", b"<html")) and ".htm" not in name:
        wrong = "a web page"
    elif start.startswith(b"\x1f\x8b") and not name.endswith((".gz", ".tgz")):
        wrong = "a compressed file"
    else:
        return
    part.unlink()
    raise DownloadError(f"{url}: what arrived is {wrong}, not {name}; check the address (data.address), or try again later")


# ---------------------------------------------------------------------- on disk


def _part(file: Path) -> Path:
    return file.with_name(f"{file.name}.part")


def _record(file: Path) -> Path:
    return file.with_name(f"{file.name}.json")


def _version(part: Path) -> str:
    """The server's version of the file we have started. A weak one does not promise the same bytes."""
    note = part.with_suffix(".version")
    version = note.read_text(encoding="utf-8") if note.exists() else ""
    return "" if version.startswith("W/") else version


def _note_version(part: Path, version: str) -> None:
    part.with_suffix(".version").write_text(version, encoding="utf-8")


def _forget_version(file: Path) -> None:
    _part(file).with_suffix(".version").unlink(missing_ok=True)


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _measure(url: str, file: Path) -> Record:
    with file.open("rb") as stream:
        return Record(url, _size(file), hashlib.file_digest(stream, "sha256").hexdigest())


def _write_record(file: Path, known: Record) -> None:
    write_atomically(_record(file), json.dumps(asdict(known), indent=1))


# -------------------------------------------------------------------- on screen


class _Bar:
    """A bar in a terminal; elsewhere nothing."""

    def __init__(self, name: str, progress: Progress | None) -> None:
        self.progress = progress
        if progress is not None:
            self.task = progress.add_task(name, total=None)

    def show(self, done: int, total: int | None) -> None:
        if self.progress is not None:
            self.progress.update(self.task, completed=done, total=total)


@contextmanager
def _bar(name: str) -> Iterator[_Bar]:
    log.info("fetching   %s", name)
    if not console.is_terminal:
        yield _Bar(name, None)
        return
    columns = [TextColumn("{task.description}"), BarColumn(bar_width=16), DownloadColumn(), TransferSpeedColumn()]
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as progress:
        yield _Bar(name, progress)

"""Files: locked to one process, written all or nothing, read line by line whether compressed or not."""

import bz2
import errno
import fcntl
import gzip
import hashlib
import lzma
import os
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from .errors import UserError

OPENERS = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
# Bytes per line. Text is split into sentences one line at a time, which takes about twenty times its size.
LONGEST_LINE = 16 << 20
FULL = (errno.ENOSPC, errno.EDQUOT)
# Makes an error from a file, a line number, and what is wrong there.
Fault = Callable[[Path, int | None, str], UserError]

# A JSON object as stored in a file: its keys are known, its values are checked where they are used.
JsonObject = dict[str, Any]


class FileInUse(Exception):
    """Another process holds the lock."""


@contextmanager
def lock(file: Path, patience: float | None = None) -> Iterator[None]:
    """One process at a time. The lock disappears with the process, however it ends.

    Waits for the lock, for at most `patience` seconds if given, then raises FileInUse.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as stream:
        end = None if patience is None else time.monotonic() + patience
        if end is None:
            fcntl.flock(stream, fcntl.LOCK_EX)
        else:
            while not _acquire(stream):
                if time.monotonic() >= end:
                    raise FileInUse(str(file))
                time.sleep(0.05)
        yield


def is_locked(file: Path) -> bool:
    """Whether some process holds the lock now."""
    if not file.exists():
        return False
    with file.open(encoding="utf-8") as stream:
        # Over NFS, a file opened for reading cannot be locked exclusively; a shared lock is refused all the same if one is held.
        return not _acquire(stream, fcntl.LOCK_SH)


def _acquire(stream: IO[str], kind: int = fcntl.LOCK_EX) -> bool:
    """Held until the file is closed."""
    try:
        fcntl.flock(stream, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def replace_atomically(file: Path) -> Iterator[Path]:
    """A path beside the file to write to; once everything has reached the disk it replaces the file, which otherwise stays."""
    temporary = file.with_name(f".{file.name}.{os.getpid()}.new")
    try:
        yield temporary
        _sync(temporary)
        os.replace(temporary, file)
        _sync(file.parent)
    finally:
        temporary.unlink(missing_ok=True)


def write_atomically(file: Path, content: str | bytes) -> None:
    """All or nothing. Text is UTF-8, line ends unchanged."""
    with replace_atomically(file) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_fault_of_disk(error: OSError) -> bool:
    """Whether a file or folder is to blame, rather than a network or a bug."""
    return error.filename is not None or error.errno in FULL


def tell_fault(error: OSError) -> str:
    """What is wrong with a file or folder, in one line."""
    place = error.filename if isinstance(error.filename, str | os.PathLike) else "no file named"
    if error.errno in FULL:
        return f"the disk is full ({place}); free some space, then resume (a run with ckpt_path=auto)"
    remedy = "choose another folder, or change its permissions" if isinstance(error, PermissionError) else "choose another place"
    if error.errno == errno.EROFS:
        remedy = "it cannot be written to; choose another place"
    return f"{place}: {error.strerror or type(error).__name__}; {remedy}"


def require_writable(folder: Path) -> None:
    """Check before any work whether a folder can be created, or written to if it exists."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists() or place.is_symlink())
    if not there.is_dir():
        what = "" if there == folder else f"{there} "
        raise UserError(f"{folder}: {what}is not a folder; choose another place")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UserError(f"{folder}: {there} cannot be written to; choose another folder, or change its permissions")


def checksum(file: Path) -> str:
    """The checksum of a whole file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def read_lines(file: Path, fault: Fault) -> Iterator[str]:
    """The lines of a file without line ends, decompressed according to its suffix; errors are raised as `fault`."""
    opener = OPENERS.get(file.suffix)
    offset = number = 0
    try:
        stream: IO[bytes]
        with opener(file, "rb") if opener else file.open("rb") as stream:  # type: ignore[operator]
            while raw := stream.readline(LONGEST_LINE + 1):
                number += 1
                if len(raw) > LONGEST_LINE:
                    size = f"{LONGEST_LINE >> 20} MB"
                    raise fault(file, number, f"this line is longer than {size}; write one paragraph or sentence per line")
                try:
                    text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    where = f"byte 0x{raw[error.start]:02x} at offset {offset + error.start:,}"
                    raise fault(file, number, f"not UTF-8: {where}; convert the file (for instance with iconv)") from None
                yield text.rstrip("\r\n")
                offset += len(raw)
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        if opener and not isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
            raise fault(file, None, f"cannot be decompressed ({error}); it is truncated or not a {file.suffix} file") from None
        raise fault(file, None, f"cannot be read ({getattr(error, 'strerror', None) or error})") from None

"""Locks, atomic writes, lines of files; and the cores of a machine that cannot say which may be used."""

import bz2
import errno
import fcntl
import gzip
import lzma
import multiprocessing
import os
from contextlib import suppress

import pytest
from concord import machine
from concord.errors import UserError
from concord.files import LONGEST_LINE, FileInUse, checksum, is_locked, lock, read_lines, replace_atomically, write_atomically


class Fault(UserError):
    def __init__(self, file, line, message):
        super().__init__(f"{file.name}:{line}: {message}")


def hold(file, held, let_go):
    with lock(file):
        held.set()
        let_go.wait(30)


def test_a_lock_is_held_by_one_process_and_goes_with_it(tmp_path):
    file = tmp_path / "new folder" / "x.lock"
    assert not is_locked(file)
    context = multiprocessing.get_context("fork")
    held, let_go = context.Event(), context.Event()
    other = context.Process(target=hold, args=(file, held, let_go))
    other.start()
    assert held.wait(30)
    assert is_locked(file)
    with pytest.raises(FileInUse), lock(file, patience=0):
        raise AssertionError("two processes hold one lock")
    other.kill()  # it has no chance to let go of it
    other.join()
    with lock(file, patience=0):
        assert is_locked(file)
    assert not is_locked(file)


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
    file = tmp_path / "a.json"
    write_atomically(file, "the old one\r\n")
    assert file.read_bytes() == b"the old one\r\n"
    with suppress(InterruptedError), replace_atomically(file) as new:
        new.write_text("half of the n", encoding="utf-8")
        assert new.parent == file.parent  # another disk could not be renamed from
        raise InterruptedError
    assert file.read_text(encoding="utf-8") == "the old one\n"
    assert list(tmp_path.iterdir()) == [file]
    before = checksum(file)
    write_atomically(file, b"new")
    assert file.read_bytes() == b"new"
    assert checksum(file) != before


@pytest.mark.parametrize(
    ("ending", "compress"), [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)]
)
def test_lines_are_the_same_however_they_are_compressed(tmp_path, ending, compress):
    file = tmp_path / f"a.txt{ending}"
    file.write_bytes(compress("\ufeffeins\r\n\nzwei\u2028drei".encode()))
    assert list(read_lines(file, Fault)) == ["eins", "", "zwei\u2028drei"]
    file.write_bytes(compress(b"eins\nzw\xf6i\n"))
    with pytest.raises(Fault, match=f"a.txt{ending}:2: not UTF-8: byte 0xf6 at offset 7"):
        list(read_lines(file, Fault))
    file.write_bytes(compress(b"eins\n" * 999)[:-9])
    if ending:
        with pytest.raises(Fault, match="cannot be decompressed"):
            list(read_lines(file, Fault))


def test_what_cannot_be_read_is_one_line(tmp_path):
    for name in ("gone.txt", "gone.txt.gz"):
        with pytest.raises(Fault, match=r"cannot be read \(No such file"):
            list(read_lines(tmp_path / name, Fault))


def test_a_line_without_end_is_refused_before_it_fills_the_memory(tmp_path):
    file = tmp_path / "a.txt.gz"
    with gzip.open(file, "wb", compresslevel=1) as stream:
        stream.write(b"ein Wort\n")
        for _ in range(40):
            stream.write(b"und " * (LONGEST_LINE // 64))
    with pytest.raises(Fault, match="a.txt.gz:2: this line is longer than 16 MB; write one paragraph or sentence per line"):
        list(read_lines(file, Fault))


def test_cores_are_counted_where_the_system_knows_no_affinity(monkeypatch):
    assert machine.cores() == sorted(os.sched_getaffinity(0))
    monkeypatch.delattr(os, "sched_getaffinity")  # macOS
    assert machine.cores() == list(range(os.cpu_count()))


def test_asking_for_a_lock_works_where_only_files_open_for_writing_can_be_locked_alone(tmp_path, monkeypatch):
    """As over NFS."""
    file = tmp_path / "x.lock"
    flock = fcntl.flock

    def strict(stream, kind):
        if kind & fcntl.LOCK_EX and not stream.writable():
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        flock(stream, kind)

    monkeypatch.setattr(fcntl, "flock", strict)
    with lock(file):
        assert is_locked(file)
    assert not is_locked(file)

"""Downloads, with a server of our own in the part of the publishers: whatever it does, no half file under the final name."""

import gzip
import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from concord.data.download import DownloadError, Patience, fetch, record_of, verify
from publisher import Publisher, published

TEXT = b"".join(b"sentence number %d .\n" % i for i in range(20_000))
QUICK = Patience(retries=2, pause=0.001, timeout=10)  # seconds that only a very busy machine needs; requests are counted
IMPATIENT = Patience(retries=2, pause=0.001, timeout=0.5)  # less than a stalled server waits


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    with published({"/train.txt": TEXT}) as server:
        yield server


def only_the_file(folder: Path) -> bool:
    return {file.name for file in folder.iterdir()} == {"train.txt", "train.txt.json", "train.txt.lock"}


@pytest.mark.parametrize("fault", ["", "slow", "chunked"])
def test_a_complete_file_is_stored_with_its_size_and_checksum(publisher, tmp_path, fault):
    publisher.faults = [fault]
    fetch(f"{publisher.address}/train.txt", tmp_path / "train.txt", patience=QUICK)
    assert (tmp_path / "train.txt").read_bytes() == TEXT
    known = record_of(tmp_path / "train.txt")
    assert (known.url, known.size, known.sha256) == (
        f"{publisher.address}/train.txt",
        len(TEXT),
        hashlib.sha256(TEXT).hexdigest(),
    )
    assert only_the_file(tmp_path)


def test_the_second_time_nobody_is_asked(publisher, tmp_path):
    first = fetch(f"{publisher.address}/train.txt", tmp_path / "train.txt", patience=QUICK)
    assert fetch(f"{publisher.address}/train.txt", tmp_path / "train.txt", patience=QUICK) == first
    assert len(publisher.requests) == 1
    assert fetch(f"{publisher.address}/train.txt", tmp_path / "train.txt", offline=True) == first


@pytest.mark.parametrize("fault", ["cut off", "stalled"])
def test_what_was_cut_off_is_resumed_where_it_was(publisher, tmp_path, fault):
    publisher.faults = [fault, fault]
    fetch(f"{publisher.address}/train.txt", tmp_path / "train.txt", patience=IMPATIENT if fault == "stalled" else QUICK)
    assert (tmp_path / "train.txt").read_bytes() == TEXT
    ranges = [request.get("Range") for request in publisher.requests]
    assert ranges[0] is None
    assert ranges[1:] == [f"bytes={n}-" for n in ((150_000, 300_000) if fault == "cut off" else (100_000, 200_000))]
    assert only_the_file(tmp_path)


def test_an_interrupted_fetch_goes_on_at_the_next_start(publisher, tmp_path):
    publisher.faults = ["cut off", "503", "503", "503"]
    with pytest.raises(DownloadError, match="the server answers 503 .* what has arrived is kept"):
        fetch(f"{publisher.address}/train.txt", tmp_path / "train.txt", patience=QUICK)
    assert not (tmp_path / "train.txt").exists()
    fetch(f"{publisher.address}/train.txt", tmp_path / "train.txt", patience=QUICK)
    assert publisher.requests[-1]["Range"] == "bytes=150000-"
    assert (tmp_path / "train.txt").read_bytes() == TEXT


def test_a_file_that_changes_while_it_is_fetched_is_fetched_from_its_start(publisher, tmp_path):
    publisher.faults = ["cut off", "503", "503", "503"]
    with pytest.raises(DownloadError):
        fetch(f"{publisher.address}/train.txt", tmp_path / "train.txt", patience=QUICK)
    publisher.files["/train.txt"], publisher.version = TEXT[::-1], '"two"'
    fetch(f"{publisher.address}/train.txt", tmp_path / "train.txt", patience=QUICK)
    assert (tmp_path / "train.txt").read_bytes() == TEXT[::-1]


def test_another_part_than_was_asked_for_is_not_used(publisher, tmp_path):
    publisher.faults = ["cut off", "another part"]
    fetch(f"{publisher.address}/train.txt", tmp_path / "train.txt", patience=QUICK)
    assert [request.get("Range") for request in publisher.requests] == [None, "bytes=150000-", None]
    assert (tmp_path / "train.txt").read_bytes() == TEXT


def test_without_a_version_nothing_is_pieced_together(publisher, tmp_path):
    publisher.version = ""
    publisher.faults = ["cut off"]
    fetch(f"{publisher.address}/train.txt", tmp_path / "train.txt", patience=QUICK)
    assert [request.get("Range") for request in publisher.requests] == [None, None]
    assert (tmp_path / "train.txt").read_bytes() == TEXT


def test_a_server_that_always_stops_short_is_given_up(publisher, tmp_path):
    publisher.version = ""
    publisher.faults = ["cut off"] * 9
    with pytest.raises(DownloadError, match=r"cut off after 150,000 of [\d,]+ bytes, 3 times in a row"):
        fetch(f"{publisher.address}/train.txt", tmp_path / "train.txt", patience=QUICK)
    assert not (tmp_path / "train.txt").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (TEXT[:-10], r"train.txt: [\d,]+ bytes, but it had [\d,]+ when it was first fetched; if the new one is right, remove"),
        (TEXT.replace(b"number 7 ", b"number 8 "), r"the content has changed since the first fetch \(checksum"),
    ],
)
def test_a_wrong_size_or_other_content_than_the_first_time_is_refused(publisher, tmp_path, content, message):
    fetch(f"{publisher.address}/train.txt", tmp_path / "train.txt", patience=QUICK)
    (tmp_path / "train.txt").unlink()
    publisher.files["/train.txt"], publisher.version = content, '"two"'
    with pytest.raises(DownloadError, match=message):
        fetch(f"{publisher.address}/train.txt", tmp_path / "train.txt", patience=QUICK)
    assert not (tmp_path / "train.txt").exists()
    assert not (tmp_path / "train.txt.part").exists()


def test_a_fetched_file_that_was_changed_here_is_found_out(publisher, tmp_path):
    file = tmp_path / "train.txt"
    fetch(f"{publisher.address}/train.txt", file, patience=QUICK)
    verify(file)
    file.write_bytes(TEXT.replace(b"number 7 ", b"number 8 "))
    with pytest.raises(DownloadError, match="remove it, and it will be fetched again: rm"):
        verify(file)
    file.write_bytes(TEXT[:-1])
    with pytest.raises(DownloadError, match="remove it, and it will be fetched again: rm"):
        fetch(f"{publisher.address}/train.txt", file, patience=QUICK)


def test_a_missing_file_is_told_at_once(publisher, tmp_path):
    publisher.faults = ["404"]
    with pytest.raises(DownloadError, match=r"train.txt: the server answers 404 Not Found; check the address"):
        fetch(f"{publisher.address}/train.txt", tmp_path / "train.txt", patience=QUICK)
    assert len(publisher.requests) == 1
    assert not (tmp_path / "train.txt").exists()


def test_a_busy_server_is_asked_again(publisher, tmp_path):
    publisher.faults = ["503", "429"]
    fetch(f"{publisher.address}/train.txt", tmp_path / "train.txt", patience=QUICK)
    assert (tmp_path / "train.txt").read_bytes() == TEXT
    assert len(publisher.requests) == 3


def test_no_network_and_the_offline_switch_say_where_the_file_is_wanted(tmp_path):
    with pytest.raises(DownloadError, match=rf"3 times in a row.*put it at {tmp_path}/train.txt"):
        fetch("http://127.0.0.1:9/train.txt", tmp_path / "train.txt", patience=QUICK)
    with pytest.raises(DownloadError, match=rf"the network is switched off; put the file at {tmp_path}/train.txt"):
        fetch("http://127.0.0.1:9/train.txt", tmp_path / "train.txt", offline=True)
    (tmp_path / "train.txt").write_bytes(TEXT)
    assert fetch("http://127.0.0.1:9/train.txt", tmp_path / "train.txt", offline=True).size == len(TEXT)


def test_a_proxy_is_obeyed(publisher, tmp_path, monkeypatch):
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{publisher.server_port}")
    monkeypatch.setenv("no_proxy", "")
    fetch("http://corpora.invalid/train.txt", tmp_path / "train.txt", patience=QUICK)
    assert publisher.requests[0]["Host"] == "corpora.invalid"
    assert (tmp_path / "train.txt").read_bytes() == TEXT


def test_the_pauses_grow_and_a_server_that_names_one_is_obeyed():
    patience = Patience(pause=1, longest=20)
    assert [patience.before(attempt, asked=0) for attempt in range(6)] == [1, 2, 4, 8, 16, 20]
    assert patience.before(0, asked=7) == 7


def test_what_is_no_address_is_told_so(tmp_path):
    with pytest.raises(DownloadError, match="not an address"):
        fetch("train.txt", tmp_path / "train.txt", patience=QUICK)


@pytest.mark.parametrize(
    ("content", "headers", "message"),
    [
        (b"", {}, "what arrived is an empty file, not train.txt"),
        (b"  <!DOCTYPE html><title>Sign in</title>", {}, "what arrived is a web page, not train.txt"),
        (
            b"<p>Sign in</p>",
            {"Content-Type": "text/html; charset=utf-8"},
            r"the server sends a web page \(text/html\), not a file",
        ),
        (gzip.compress(TEXT), {}, "what arrived is a compressed file, not train.txt"),
        (gzip.compress(TEXT), {"Content-Encoding": "gzip"}, r"sends it encoded \(gzip\), though asked not to"),
    ],
)
def test_what_cannot_be_the_file_is_neither_kept_nor_recorded(publisher, tmp_path, content, headers, message):
    publisher.files["/train.txt"], publisher.headers = content, headers
    with pytest.raises(DownloadError, match=message):
        fetch(f"{publisher.address}/train.txt", tmp_path / "train.txt", patience=QUICK)
    assert not [file for file in tmp_path.iterdir() if file.suffix in (".txt", ".json", ".part")]
    publisher.files["/train.txt"], publisher.headers = TEXT, {}
    fetch(f"{publisher.address}/train.txt", tmp_path / "train.txt", patience=QUICK)


def test_a_server_that_sends_drop_by_drop_is_given_up(publisher, tmp_path):
    publisher.faults = ["drip"] * 9  # each would take hours
    with pytest.raises(DownloadError, match="only [0-9]+ bytes per second arrive, 3 times in a row"):
        fetch(f"{publisher.address}/train.txt", tmp_path / "train.txt", patience=Patience(2, pause=0.001, timeout=0.2))


@pytest.mark.parametrize("asked", ["\xb2", "-1", "soon", "Wed, 21 Oct 2015 07:28:00 GMT"])
def test_a_pause_that_is_no_number_of_seconds_is_not_waited_for(publisher, tmp_path, asked):
    publisher.faults, publisher.headers = ["503"], {"Retry-After": asked}
    fetch(f"{publisher.address}/train.txt", tmp_path / "train.txt", patience=QUICK)
    assert (tmp_path / "train.txt").read_bytes() == TEXT

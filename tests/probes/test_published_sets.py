"""Sets by name, with a server of our own in the part of GitHub and of the hub: complete, resumed, checked, or refused."""

import csv
import hashlib
import io
import json
import logging
import pickle
from pathlib import Path

import pyarrow as pa
import pytest
import yaml
from concord.commands.sets import main
from concord.data.download import DownloadError, Downloads, Patience, Record
from concord.probes import published_sets
from concord.probes.challenge_set import SetError
from concord.probes.collection import ItemSelection, collect, locate
from concord.probes.published_sets import ABOUT, PUBLISHED, fetch_published, known_files, local_names
from concord.settings.probing import collection_files
from publisher import published
from pyarrow import parquet
from set_files import BLIMP, GEVALM, MARVIN_LINZEN, MULTIBLIMP, SYNTAXGYM

SOURCES = Path(__file__).resolve().parents[3] / "shared/reference/set_sources.csv"
QUICK = Patience(retries=1, pause=0.001, timeout=10)  # seconds that only a very busy machine needs; requests are counted
COMMIT = "0123456789abcdef0123456789abcdef01234567"
ROWS = 2_000


def a_parquet() -> bytes:
    stream = io.BytesIO()
    rows = {
        "sentence_good": [f"De kat {n} slaapt." for n in range(99)],
        "sentence_bad": [f"De kat {n} slapen." for n in range(99)],
    }
    parquet.write_table(pa.table(rows), stream)
    return stream.getvalue()


def repeated(line: str, times: int) -> bytes:
    return "".join(f"{line}\n" for _ in range(times)).encode()


def content(name: str, times: int) -> bytes:  # noqa: PLR0911 - one format after the other
    """In the format of the set; large enough to be cut off."""
    if name in ("blimp", "sling", "zhoblimp", "gevalm"):
        return repeated(json.dumps(GEVALM if name == "gevalm" else BLIMP), times)
    if name == "clams":
        return repeated("True\tles chats dorment\nFalse\tles chats dort", 3 * times)
    if name == "marvin_linzen":
        return pickle.dumps({case: list(pairs) * 2 * times for case, pairs in MARVIN_LINZEN.items()})
    if name == "syntaxgym":
        return json.dumps(SYNTAXGYM).encode() + b" " * 100 * times
    if name == "multiblimp":
        return MULTIBLIMP.encode() + repeated(MULTIBLIMP.splitlines()[1], 2 * times)
    if name == "blimp_nl":
        return a_parquet()
    separator = ";" if name == "turblimp" else ","
    head = {"turblimp": "good_sentence;bad_sentence;phenomenon"}.get(name, "source_sentence,target_sentence,PID")
    return f"{head}\n".encode() + repeated(separator.join(('"Kedi, uyuyor."', '"Kedi, uyuyorlar."', "one")), 3 * times)


HUB_FILES = {"blimp_nl": "data/passive.parquet", "zhoblimp": "data/passive.jsonl", "qfrblimp": "pairs.csv"}


class Source:
    """What the server holds of a set, with a language to ask it in."""

    def __init__(self, name: str, monkeypatch) -> None:
        made = PUBLISHED[name]
        self.language = made.languages[0] if made.languages else "de"
        if made.hub:
            first = HUB_FILES.get(name, "deu/data.tsv")
            paths = [first, "README.md"] + (["nld/data.tsv"] if name == "multiblimp" else [])
            said = {"sha": COMMIT, "siblings": [{"rfilename": path} for path in paths]}
            self.files = {f"/api/datasets/{made.hub}/revision/main": json.dumps(said).encode()}
            self.first = f"/datasets/{made.hub}/resolve/{COMMIT}/{first}"
            self.files[self.first] = content(name, ROWS)
            self.wanted = 1
            return
        base = f"/{made.github}/{made.commit}/"
        folder = made.folder.replace("{lang}", self.language)
        own = [path for path in known_files()[name] if path.startswith(folder)]
        contents = {path: content(name, ROWS if path == own[0] else 1) for path in own}
        records = {path: Record("", len(text), hashlib.sha256(text).hexdigest()) for path, text in contents.items()}
        monkeypatch.setattr(published_sets, "known_files", lambda: {name: records})
        self.files = {f"{base}{path}": text for path, text in contents.items()}
        self.first, self.wanted = f"{base}{own[0]}", len(own)


@pytest.fixture(params=PUBLISHED)
def name(request):
    return request.param


@pytest.fixture
def source(name, monkeypatch):
    return Source(name, monkeypatch)


@pytest.fixture
def server(source, monkeypatch):
    with published(dict(source.files)) as running:
        monkeypatch.setenv("CONCORD_GITHUB", running.address)
        monkeypatch.setenv("HF_ENDPOINT", running.address)
        yield running


def test_a_set_is_fetched_once_with_its_licence_and_is_there_afterwards(name, source, server, tmp_path, caplog, monkeypatch):
    caplog.set_level(logging.INFO)
    place = fetch_published(name, source.language, Downloads(tmp_path, patience=QUICK))
    made = PUBLISHED[name]
    assert made.licence in caplog.text
    assert made.citation in caplog.text
    assert ("checksums  none published: this download's are recorded, and later downloads must match" in caplog.text) == bool(
        made.hub
    )
    assert made.licence in (place / ABOUT).read_text(encoding="utf-8")
    asked = len(server.requests)
    assert asked == source.wanted + bool(made.hub)
    assert fetch_published(name, source.language, Downloads(tmp_path, allowed=False)) == place  # offline, from the cache
    assert len(server.requests) == asked
    form = yaml.safe_load(collection_files()[name].read_text(encoding="utf-8"))["format"]
    sets = collect(place, source.language, form, tmp_path / "cache", ItemSelection())
    assert sum(len(each.challenge_set) for each in sets) >= 1


def test_what_was_cut_off_goes_on_where_it_was(name, source, server, tmp_path):
    if len(source.files[source.first]) < 200_000:
        pytest.skip("a Parquet file of pairs is too small to be cut off by this server")
    server.faults = (["", "cut off"] if PUBLISHED[name].hub else ["cut off"]) + [""]
    place = fetch_published(name, source.language, Downloads(tmp_path, patience=QUICK))
    assert any(request.get("Range") == "bytes=150000-" for request in server.requests)
    assert source.files[source.first] in [file.read_bytes() for file in place.iterdir()]


def test_a_changed_byte_is_refused(name, source, server, tmp_path):
    downloads = Downloads(tmp_path, patience=QUICK)
    changed = source.files[source.first][:-2] + b"?\n"
    if PUBLISHED[name].hub:  # nothing is known beforehand, but what came first holds
        place = fetch_published(name, source.language, downloads)
        file = next(file for file in place.iterdir() if file.read_bytes() == source.files[source.first])
        file.unlink()
        server.files[source.first] = changed
        with pytest.raises(DownloadError, match=r"the content has changed since the first fetch \(checksum"):
            fetch_published(name, source.language, downloads)
        return
    server.files[source.first] = changed
    with pytest.raises(DownloadError, match=r"unexpected content arrived .* nothing is kept"):
        fetch_published(name, source.language, downloads)
    server.files[source.first] = source.files[source.first]
    place = fetch_published(name, source.language, downloads)
    file = next(file for file in place.iterdir() if file.read_bytes() == source.files[source.first])
    file.write_bytes(changed)  # and a cache that has gone bad is noticed
    with pytest.raises(DownloadError, match=r"the content has changed since the first fetch \(checksum"):
        fetch_published(name, source.language, downloads)


def test_offline_the_remedy_is_said_and_nobody_is_asked(name, source, server, tmp_path):
    with pytest.raises((SetError, DownloadError), match="the network is switched off"):
        fetch_published(name, source.language, Downloads(tmp_path, allowed=False))
    assert server.requests == []


def test_every_named_set_can_be_asked_for_by_name():
    assert set(PUBLISHED) <= set(collection_files())
    for name in PUBLISHED:
        text = collection_files()[name].read_text(encoding="utf-8")
        assert f"path: published:{name}" in text, name


def test_a_set_in_another_language_is_refused_with_its_own(tmp_path):
    with pytest.raises(SetError, match=r"blimp: these sets are not in German \(lang=de\); they are in en \(English\)"):
        fetch_published("blimp", "de", Downloads(tmp_path))
    with pytest.raises(SetError, match="no published set of this name; available: blimp, multiblimp"):
        locate("published:blump", "en", Downloads(tmp_path))
    with pytest.raises(ValueError, match="hf:owner/name"):
        locate("hf:../../etc", "en", Downloads(tmp_path))


@pytest.mark.parametrize("language", ["de", "deu", "nl"])
def test_two_and_three_letters_find_the_same_folder(language, tmp_path, monkeypatch):
    source = Source("multiblimp", monkeypatch)
    source.files[f"/datasets/jumelet/multiblimp/resolve/{COMMIT}/nld/data.tsv"] = MULTIBLIMP.encode()
    with published(source.files) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.address)
        place = fetch_published("multiblimp", language, Downloads(tmp_path, patience=QUICK))
        wanted = "nld" if language == "nl" else "deu"
        assert (place / f"{wanted}.tsv").exists()
        with pytest.raises(SetError, match=r"not in Basque \(lang=eu\); they are in deu, nld"):
            fetch_published("multiblimp", "eu", Downloads(tmp_path, patience=QUICK))


def test_a_data_set_of_the_hub_by_its_id(tmp_path, monkeypatch):
    said = {"sha": COMMIT, "siblings": [{"rfilename": "a/one.csv"}, {"rfilename": "b/one.csv"}, {"rfilename": "x.py"}]}
    text = b"good,bad,mood\nDe kat slaapt.,De kat slapen.,calm\n"
    files = {"/api/datasets/some/pairs/revision/main": json.dumps(said).encode()}
    files |= {f"/datasets/some/pairs/resolve/{COMMIT}/{part}/one.csv": text for part in "ab"}
    with published(files) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.address)
        monkeypatch.setenv("CONCORD_CACHE", str(tmp_path))
        both = locate("hf:some/pairs", "nl")
        assert {file.name for file in both.glob("*.csv")} == {"a_one.csv", "b_one.csv"}
        assert [file.name for file in locate("hf:some/pairs/b", "nl").glob("*.csv")] == ["one.csv"]
        assert main(["list", "hf:some/pairs/a", "--lang", "nl"]) == 0


def test_the_table_of_sizes_and_licences_fits_a_terminal(capsys):
    assert main(["fetch"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in PUBLISHED)
    assert max(map(len, shown.splitlines())) <= 80


def test_files_of_one_name_keep_their_folders():
    assert local_names(["a/x.csv", "b/x.csv", "c/y.csv", "deu/data.tsv"]) == ["a_x.csv", "b_x.csv", "y.csv", "deu.tsv"]


@pytest.mark.skipif(not SOURCES.exists(), reason="the table of sources is not on this machine")
def test_addresses_sizes_and_checksums_are_those_of_the_table_of_sources():
    with SOURCES.open(encoding="utf-8", newline="") as stream:
        facts = {(row["set"], row["path"]): row for row in csv.DictReader(stream)}
    count = 0
    for name, files in known_files().items():
        made = PUBLISHED[name]
        for path, record in files.items():
            fact = facts[name, path]
            assert (made.github, made.commit) == (fact["repository"], fact["commit"])
            assert (str(record.size), record.sha256) == (fact["bytes"], fact["sha256"])
            assert made.licence.replace(" BY ", "-BY-").replace("Y-4", "Y-4").startswith(fact["licence"][:4])
            count += 1
    assert count == 335

"""The page: one file with all that it shows, nothing from elsewhere, and nothing that a name could break."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from concord.report import own_report
from concord.report.page import fill_page, to_json
from concord.report.page_data import items_data
from concord.report.report_folder import make_report, write_page
from synthetic_runs import asked, settings, write_run


@pytest.fixture(scope="module")
def text(study: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    made = make_report([study], baseline="de-lstm-s1")
    return write_page(made, tmp_path_factory.mktemp("page") / "report.html").read_text(encoding="utf-8")


def data_of(text: str, name: str) -> dict:
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', text, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_nothing_is_loaded_from_elsewhere(text: str) -> None:
    without_data = re.sub(r"<script type=.*?</script>", "", text, flags=re.DOTALL)
    assert re.findall(r'(?:src|href)="(?!#)[^"]*"', without_data) == []
    assert not re.search(r"@import|url\((?!#)|fetch\(|XMLHttpRequest|https?://(?!www\.w3\.org/2000/svg)", without_data)
    assert "default-src 'none'" in text


def test_the_page_says_what_it_rests_on(text: str) -> None:
    assert "each sentence alone, after &lt;eos&gt; with a zero state" in text
    assert "model:" in text  # the settings
    assert "torch:" in text  # the versions
    for part in ("summary", "curves", "tables", "runs", "constructions", "statistics", "sources"):
        assert f'<section id="{part}">' in text


def test_curves_and_scores_are_those_of_the_runs(text: str, study: Path) -> None:
    data = data_of(text, "data")
    result = make_report([study]).findings.results[0]
    condition = next(g for g in data["conditions"] if g["name"] == "lstm" and g["language"] == "de")
    words, means, spreads = condition["curves"]["prep"]
    assert len(words) == len(means) == len(spreads) == 7
    own = data["results"][condition["results"][0]]
    assert own["scores"]["prep"] == pytest.approx(result.scores["prep"].accuracy, abs=1e-4)
    assert own["parts"]["prep"]["sp"] == pytest.approx(result.scores["prep"].parts["sp"].accuracy, abs=1e-4)
    assert [g["direction"] for g in data["conditions"]] == ["ltr", "ltr", "rtl"]


def test_items_come_with_their_sentence_and_the_scores_of_every_model(text: str) -> None:
    found = data_of(text, "items:he/agreement")
    assert len(found["items"]) <= 7 * 20
    construction, before, good, bad, after, features = found["items"][0]
    assert construction in found["sizes"]
    assert re.search(r"[א-ת]", before + good)
    assert good != bad
    assert after.endswith(".")
    assert "subject_number=" in features
    for trace in found["traces"].values():
        assert trace["at"][-1] == -1  # the end: whole sets
        assert len(trace["good"]) == len(trace["at"])
        assert all(len(row) == len(found["items"]) for row in trace["bad"])


def test_scores_in_the_page_are_those_of_the_verdicts(study: Path) -> None:
    from pyarrow import parquet

    made = make_report([study / "de-lstm-s1"])
    found = items_data(made.conditions)["de/agreement"]
    trace = found["traces"]["0"]
    file = made.findings.results[0].items
    assert file is not None
    sentences = {" ".join(row["good"]): row for row in parquet.read_table(file).to_pylist()}
    for i, (_, before, good, _, after, _) in enumerate(found["items"]):
        row = sentences[" ".join(part for part in (before, good, after) if part)]
        better, worse = trace["good"][-1][i], trace["bad"][-1][i]
        assert better == pytest.approx(row["good_score"] * 100, abs=0.51)
        assert worse == pytest.approx(row["bad_score"] * 100, abs=1.51)
        assert np.sign(better - worse) == np.sign(row["good_score"] - row["bad_score"])


def test_a_run_that_goes_on_has_sentences_too(tmp_path: Path) -> None:
    write_run(tmp_path / "going", asked("de", 24), epochs=2, finished=False, chosen=settings("lang=de", "probes.limit=24"))
    found = items_data(make_report([tmp_path]).conditions)["de/agreement"]
    assert all(len(item) == 6 for item in found["items"])


@pytest.mark.parametrize(
    ("corpus", "clitics"),
    [
        (("data=clams",), "split"),
        (("data=conllu", "data.path=x", "data.words=syntactic"), "split"),
        (("data=conllu", "data.path=x", "data.words=surface"), "joined"),
        (("data=text", "data.path=x"), "joined"),
        (("data=text", "data.path=x", "data.tokenized=true"), "split"),
    ],
)
def test_sentences_of_a_run_that_goes_on_are_written_as_its_corpus_is(
    tmp_path: Path, corpus: tuple[str, ...], clitics: str
) -> None:
    chosen = settings("lang=he", "probes.limit=8", "probes.constructions=[prep]", *corpus)
    whole = asked("he", 8, constructions=("prep",), clitics=clitics)
    write_run(tmp_path / "going", whole, epochs=1, finished=False, chosen=chosen)
    found = items_data(make_report([tmp_path]).conditions)["he/agreement"]
    expected = {sentence.words for sentence in whole.sentences}
    shown = [" ".join(part for part in (before, good, after) if part) for _, before, good, _, after, _ in found["items"]]
    assert shown
    assert set(shown) <= expected


def test_names_cannot_break_out_of_the_page(study: Path, tmp_path: Path) -> None:
    bad = tmp_path / "<img src=x onerror=alert(1)>"
    shutil.copytree(study / "de-lstm-s1", bad)
    text = make_report([tmp_path]).html()
    assert "<img" not in text
    assert "&lt;img" in text
    names = ("summary", "phases", "tables", "runs", "constructions", "statistics", "sources", "footer")
    filled = fill_page("{{js}} </title>", dict.fromkeys(names, "{{data}}"), to_json({"x": "</script><b>"}), {})
    assert "</script><b>" not in filled
    assert filled.count("{{data}}") == len(names)  # what is filled in is not looked through again


def test_a_run_has_a_report_of_its_own_without_packages_that_training_does_not_need(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pandas", "matplotlib", "scipy", "scipy.stats", "scipy.special"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    shutil.copytree(study / "de-lstm-s1", tmp_path / "run")
    made = own_report(tmp_path / "run")
    assert made == tmp_path / "run/report.html"
    assert "<title>run</title>" in made.read_text(encoding="utf-8")
    assert "When a construction is learnt" in made.read_text(encoding="utf-8")
    (tmp_path / "none").mkdir()
    shutil.copy(study / "de-lstm-s1/config.yaml", tmp_path / "none")
    assert own_report(tmp_path / "none") is None

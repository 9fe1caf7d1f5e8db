"""Nothing is left out, unknown or averaged without a word and a count."""

import csv
import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from concord.probes.accuracy import Accuracy, interval_of_mean, metrics, tabulate, wilson
from concord.probes.collection import ItemSelection, collect
from concord.probes.contract import make_contract
from concord.probes.groupings import RESERVED
from concord.probes.probe import Probe, build_probe
from concord.probes.probe_display import comparison_view, extent_in_words, legend, results_view, show_evaluation, show_final
from concord.probes.result_files import markdown, read_summary, save_summary
from concord.probes.scorers import WordScores
from concord.probes.verdicts import judge, unknown_words
from concord.terminal import console
from hypothesis import given
from hypothesis import strategies as st
from set_files import NPI

TABLE = (
    "good\tbad\tconstruction\n"
    "the dog barks\tthe dog bark\tone\n"
    "the dog barks\tthe dog bark\tone\n"
    "the zebu barks\tthe zebu bark\tone\n"
    "the cats sleep\tthe cats sleeps\ttwo\n"
)


def read_probe(tmp_path: Path, name: str, content: str | bytes, **selection: Any) -> Probe:
    file = tmp_path / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    agreed = selection.pop("contract", make_contract("default", {}))
    return build_probe("own", "en", collect(file, "en", None, tmp_path / "cache", ItemSelection(contract=agreed, **selection)))


def score(probe: Probe, unknown: tuple[str, ...] = (), good: tuple[str, ...] = ("barks", "sleep")) -> WordScores:
    words = [sentence.words.split() for sentence in probe.sentences]
    flat = [word for sentence in words for word in sentence]
    values = np.array([-1.0 if word in good else -2.0 for word in flat], np.float32)
    return WordScores(np.cumsum([0, *map(len, words)]), values, np.array([word in unknown for word in flat]))


def shown(view: Any) -> str:
    with console.capture() as seen:
        console.print(view)
    return seen.get()


def test_repetitions_are_told_in_tables_summaries_and_files(tmp_path):
    probe = read_probe(tmp_path, "mine.tsv", TABLE)
    table = tabulate(probe, judge(probe, score(probe)))
    assert {row.construction: (row.all.n, row.repeated) for row in table.rows} == {"one": (2, 1), "two": (1, 0)}
    assert "repeated" in shown(results_view("x", table))
    save_summary(tmp_path / "out", {"model": table}, {})
    assert read_summary(tmp_path / "out")[0]["model"] == table
    assert "Exact duplicates left out: one 1." in (tmp_path / "out/summary.md").read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out/summary.csv").read_text(encoding="utf-8"))))
    assert [row["repeated"] for row in rows if row["part"] == "all"] == ["1", "0", ""]
    every = read_probe(tmp_path, "mine.tsv", TABLE, contract=make_contract("default", {"duplicates": "all"}))
    again = tabulate(every, judge(every, score(every)))
    assert [(row.all.n, row.repeated) for row in again.rows] == [(3, 0), (1, 0)]
    assert "repeated" not in shown(results_view("x", again))


def test_unknown_words_of_the_context_are_counted_and_named(tmp_path):
    """Every sentence has a word that the model does not know, and still an accuracy of 1."""
    probe = read_probe(tmp_path, "mine.tsv", TABLE)
    scores = score(probe, unknown=("the", "zebu"))
    table = tabulate(probe, judge(probe, scores))
    assert [(row.all.accuracy, row.all.uncovered, row.all.unknown_context) for row in table.rows] == [(1.0, 0, 2), (1.0, 0, 1)]
    assert "context" in " ".join(shown(results_view("x", table)).split())
    assert unknown_words(probe, scores) == ["the", "zebu"]
    text = markdown({"model": table}, {})
    assert "3 scored with an unknown word outside the tested ones" in text
    known = tabulate(probe, judge(probe, score(probe)))
    assert "context" not in " ".join(shown(results_view("x", known)).split())


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ((), ["items n 3, ties 0, uncovered 0; chance 0.50"]),
        (
            ("sleep", "zebu"),
            ["items a: n 3, ties 0, uncovered 0", "items b: n 2, ties 0, uncovered 1, unknown context 1; chance 0.50"],
        ),
    ],
)
def test_several_models_side_by_side_have_their_counts(tmp_path, caplog, other, said):
    probe = read_probe(tmp_path, "mine.tsv", TABLE)
    tables = {name: tabulate(probe, judge(probe, score(probe, words))) for name, words in {"run/a": (), "run/b": other}.items()}
    caplog.set_level("INFO")
    show_evaluation(probe, tables, tables, {})
    lines = [" ".join(line.split()) for message in caplog.messages for line in message.splitlines()]
    assert [line for line in lines if line.startswith("items")] == said


def test_what_was_asked_is_not_called_whole(tmp_path, caplog):
    whole, some = (read_probe(tmp_path, "mine.tsv", TABLE, limit=limit) for limit in (None, 1))
    assert (whole.extent, some.extent) == ((3, 3), (2, 3))
    assert extent_in_words(whole.extent) == "whole sets, "
    assert extent_in_words(some.extent) == "2 of 3 items, "
    assert extent_in_words(None) == ""
    table = tabulate(some, judge(some, score(some)))
    about = {"language": "en", "set": "own", "extent": some.extent, "contract": {"label": "default", "statement": "x"}}
    save_summary(tmp_path / "final-en-own", {"model": table}, about)
    with caplog.at_level("INFO"):
        show_final(tmp_path)
    assert "en own, 2 of 3 items, best weights" in caplog.text


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 50)), min_size=1, max_size=6))
def test_the_interval_of_a_mean_is_no_narrower_than_it_should_be(counts):
    parts = [Accuracy(n=n + c, correct=c, ties=0, uncovered=0, items=n + c, every=0.0) for c, n in counts]
    shares = [part.correct / part.n for part in parts]
    low, high = interval_of_mean(shares, [part.interval for part in parts])
    mean = math.fsum(shares) / len(shares)
    assert 0.0 <= low <= mean <= high <= 1.0
    assert "-" not in f"{low:.2f}"
    if len(parts) == 1:
        assert (low, high) == pytest.approx(wilson(parts[0].correct, parts[0].n))


def test_the_contrasts_of_a_triple_are_shown_one_by_one(tmp_path):
    import pickle

    for protocol in ("default", "clams"):
        probe = read_probe(tmp_path, "npi.pickle", pickle.dumps(NPI), contract=make_contract(protocol, {}))
        table = tabulate(probe, judge(probe, score(probe, good=("no", "the"))))
        parts = table.rows[0].parts
        assert {name: (part.n, part.correct, part.chance) for name, part in parts.items()} == {
            "contrast=g>i": (1, 1.0, 0.5),
            "contrast=i>u": (1, 0.0, 0.5),
            "contrast=g>u": (1, 0.5 if protocol == "default" else 1.0, 0.5),
        }
        assert table.groupings["contrast"] == list(parts)
        assert "contrast=i>u" in shown(results_view("x", table))
        assert legend(table).startswith("g>i, i>u, g>u: which sentence of a triple should beat which; ")
        assert metrics(table, "en", "own")["probe/en/own/npi/contrast=i>u"] == parts["contrast=i>u"].accuracy
    assert "contrast" in RESERVED


def test_means_over_different_constructions_are_marked_where_they_stand_side_by_side(tmp_path):
    probe = read_probe(tmp_path, "mine.tsv", TABLE)
    both, one = (tabulate(probe, judge(probe, score(probe, unknown))) for unknown in ((), ("sleep",)))
    assert ["mean", "of", "2", "1"] in [line.split() for line in shown(comparison_view("x", {"a": both, "b": one})).splitlines()]
    assert " of " not in shown(comparison_view("x", {"a": both, "b": both}))
    assert "| 1.000 (of 2) | 1.000 (of 1) |" in markdown({"a": both, "b": one}, {})
    nothing = tabulate(probe, judge(probe, score(probe, ("barks", "sleep"))))
    assert "nan" not in markdown({"a": both, "b": nothing}, {})

"""Features of items never take the place of a result, and never stop a run after its last epoch."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from concord.probes.challenge_set import ChallengeSet, SetError, Variant
from concord.probes.collection import ItemSelection, collect
from concord.probes.feature_columns import RESERVED, feature_column, feature_columns


@pytest.mark.parametrize("name", sorted(RESERVED - {"good", "bad", "construction"}))
def test_a_column_that_is_called_like_a_result_is_refused_with_its_line(tmp_path: Path, name: str) -> None:
    file = tmp_path / "mine.tsv"
    file.write_text(f"good\tbad\t{name}\nder Gast wartet .\tder Gast warten .\t1\n", encoding="utf-8")
    with pytest.raises(SetError, match=f"mine.tsv:2: a feature .* is named {name}, .* rename it, for instance to item_{name}"):
        collect(file, "de", "own", tmp_path / "cache", ItemSelection())
    with pytest.raises(SetError, match="mine.tsv:2"):  # read from the cache as well
        collect(file, "de", "own", tmp_path / "cache", ItemSelection())


def test_the_writer_holds_to_it_too() -> None:
    made = ChallengeSet("x", "de", "own", "x.tsv")
    variants = [Variant("good", True, ("a",), None, ()), Variant("bad", False, ("b",), None, ())]
    made.add(1, {"verdict": 1}, variants)
    with pytest.raises(ValueError, match="called like results: .'verdict'"):
        feature_columns([made], [(0, 0)])


def test_every_column_of_the_results_is_reserved(finished_items: pa.Table) -> None:
    features = {"subject_number", "attractor_number", "distance"}
    assert {*finished_items.column_names} - features <= RESERVED


@pytest.fixture
def finished_items() -> pa.Table:
    from pyarrow import parquet

    before = Path(__file__).parents[1] / "fixtures/before/runs/lstm/probes/final-de-agreement/items.parquet"
    return parquet.read_table(before)


@pytest.mark.parametrize(
    ("values", "kind", "kept"),
    [
        ([1, None, 3], pa.int64(), [1, None, 3]),
        ([True, None, False], pa.bool_(), [True, None, False]),
        ([True, 3], pa.string(), ["true", "3"]),
        ([2**63, 1], pa.string(), [str(2**63), "1"]),
        ([-(2**63), 2**63 - 1], pa.int64(), [-(2**63), 2**63 - 1]),
        ([-(2**63) - 1], pa.string(), [str(-(2**63) - 1)]),
        (["a", 1, None], pa.string(), ["a", "1", None]),
    ],
)
def test_a_column_has_one_kind_and_loses_nothing(values, kind, kept) -> None:
    made = feature_column(values)
    assert made.type == kind
    assert made.to_pylist() == kept


def test_numbers_of_any_size_are_written(tmp_path: Path) -> None:
    """A set with a number beyond 64 bits, and one with a truth value beside a number, become files before any training."""
    file = tmp_path / "mine.jsonl"
    items = [{"good": "a b .", "bad": "a c .", "n": 2**70, "m": True}, {"good": "d b .", "bad": "d c .", "n": 1, "m": 3}]
    file.write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
    (found,) = collect(file, "de", "own", tmp_path / "cache", ItemSelection())
    columns = feature_columns([found.challenge_set], [(0, 0), (0, 1)])
    assert pa.table(columns).to_pylist() == [{"n": str(2**70), "m": "true"}, {"n": "1", "m": "3"}]

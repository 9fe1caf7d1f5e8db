"""Files of verdicts know when they are damaged: no flipped bit becomes another number in a report."""

import random
from pathlib import Path

import pyarrow as pa
import pytest
from concord.probes.verdict_files import read_checked, write_table
from concord.report.left_out import UNREADABLE
from pyarrow import parquet

BEFORE = Path(__file__).parents[1] / "fixtures/before/results"


@pytest.mark.parametrize("columns", [None, ["uid", "construction", "verdict", "covered"]])
def test_no_flipped_bit_gives_other_verdicts(tmp_path, columns):
    table = parquet.read_table(BEFORE / "several/items-lstm-best.parquet", columns=columns)
    whole, damaged = tmp_path / "a.parquet", tmp_path / "b.parquet"
    write_table(whole, table, {"digest": "abc", "contract": {"label": "default"}})
    read_checked(whole)
    written = parquet.read_table(whole)
    intact, draw, refused = whole.read_bytes(), random.Random(0), 0
    for _ in range(200):
        content = bytearray(intact)
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        damaged.write_bytes(content)
        try:
            read_checked(damaged)
        except UNREADABLE:
            refused += 1
            continue
        read = parquet.read_table(damaged)
        assert read.equals(written)
        assert read.schema.metadata[b"concord"] == written.schema.metadata[b"concord"]
    assert refused > 100


def test_a_file_with_lists_is_as_it_was_written(tmp_path):
    table = pa.table({"uid": ["a"], "good": [["der", "Gast"]], "target": pa.array([[0, 1]], pa.list_(pa.int64(), 2))})
    write_table(tmp_path / "a.parquet", table, {"digest": "abc"})
    read_checked(tmp_path / "a.parquet")


def test_files_of_before_are_read():
    read_checked(BEFORE / "default/items.parquet")


def test_what_is_no_file_of_verdicts_is_told(tmp_path):
    table = parquet.read_table(BEFORE / "default/items.parquet").replace_schema_metadata(None)
    parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="not a verdict file"):
        read_checked(tmp_path / "a.parquet")

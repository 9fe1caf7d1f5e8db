"""docs/reference.md says what there is, and nothing that a run writes is missing from it."""

import csv
import re

import make_reference
from concord import metric_names
from training_runs import ROOT, TINY, train


def pattern(documented: str) -> str:
    """`<x>` is anything without a slash, `…` anything, `{a,b}` one of them."""
    pieces = re.split(r"(<[^>]*>|…|\{[^}]*\})", documented)
    return "".join(_pattern(piece) for piece in pieces) + "$"


def _pattern(piece: str) -> str:
    if piece.startswith("{"):
        return f"({piece[1:-1].replace(',', '|')})"
    return ".*" if piece == "…" else "[^/]+" if piece.startswith("<") else re.escape(piece)


def undocumented(names: list[str], documented: dict[str, str]) -> list[str]:
    return [name for name in names if not any(re.match(pattern(known), name) for known in documented)]


def test_the_reference_is_that_of_todays_settings():
    written = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
    assert written == make_reference.reference(), "write it anew: python docs/make_reference.py"


def test_every_setting_says_what_it_means():
    """A default alone does not; names and places speak for themselves."""
    rows = [row for name in ("train", "evaluate") for row in make_reference.settings_of(ROOT / f"conf/{name}.yaml")]
    assert len(rows) > 12
    assert [row.name for row in rows if not row.comment] == []


def test_what_a_run_writes_is_documented(tmp_path):
    train(tmp_path, *TINY, "trainer.max_epochs=1", "name=x")
    run = tmp_path / "runs/x"
    with (run / "metrics.csv").open(encoding="utf-8", newline="") as stream:
        columns = next(csv.reader(stream))
    assert undocumented(columns, make_reference.METRICS) == []
    files = [str(file.relative_to(run)) for file in sorted(run.rglob("*")) if file.is_file()]
    assert undocumented(files, make_reference.FILES) == []
    rare = [metric_names.perplexity("valid", "de"), metric_names.per_word(metric_names.perplexity("test", "de"))]
    assert undocumented([*rare, metric_names.per_word("test/perplexity")], make_reference.METRICS) == []
    assert undocumented(["time/nothing", "probe/de/x"], make_reference.METRICS) == ["time/nothing", "probe/de/x"]

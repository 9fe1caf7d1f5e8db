"""Tables at any width: nothing is cut, whatever does not fit follows below."""

import io

import pytest
from concord import terminal
from concord.terminal import fits, table
from rich.console import Console

HEADS = ["accuracy", "95 %", "change", "match", "mism.", "n", "ties", "uncov.", "unk. context"]


def wide():
    view = table("results", "construction", numbers=HEADS)
    for number in range(22):
        cells = ["0.71 (0.40)", "0.67–0.75", "+0.02", "0.66", "0.39", f"{17_000 + number:,}", f"{number}", "1,400", "5,159"]
        view.add_row(f"obj_rel_no_comp_across_inanim_{number}", *cells)
    view.add_section()
    view.add_row("mean of 22", *["1.00"] * len(HEADS), style="bold")
    return view


def drawn(view, columns: int) -> str:
    console = Console(file=io.StringIO(), width=columns, highlight=False, markup=False)
    console.print(view)
    return console.file.getvalue()


@pytest.mark.parametrize("columns", [50, 80, 100, 120, 200])
def test_no_number_and_no_head_is_cut(columns):
    text = drawn(wide(), columns)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= columns
    assert text.count("results") == 1
    for number in range(22):
        assert f"{17_000 + number:,}" in text
    words = text.split()
    parts = words.count("construction")
    assert (parts == 1) == (columns >= 120)
    assert sum(word == "obj_rel_no_comp_across_inanim_7" for word in words) == parts
    assert [words.count(head) for head in ("accuracy", "match", "uncov.", "context")] == [1] * 4
    assert words.count("(0.40)") == 22


def test_whether_a_table_fits_is_known_before_it_is_shown(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(terminal, "console", Console(file=io.StringIO(), width=80, force_terminal=True))
    assert not fits(wide())
    small = table("results", "construction", numbers=["accuracy"])
    small.add_row("prep", "0.71")
    assert fits(small)


def test_running_text_is_broken_into_lines_not_set_apart():
    view = table("groups", "group", numbers=["n"], last="over")
    view.add_row("agreement", "12", "mean of " + ", ".join(f"construction_{i}" for i in range(20)))
    text = drawn(view, 80)
    assert text.split().count("agreement") == 1
    assert "construction_19" in text

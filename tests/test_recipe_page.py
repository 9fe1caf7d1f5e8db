"""docs/recipe.md: its tables are those of the rows that are kept, and its figures are drawn from them."""

import make_recipe
import pytest


def test_the_tables_are_those_of_the_rows():
    page = make_recipe.PAGE.read_text(encoding="utf-8")
    assert make_recipe.filled(page) == page, "write it anew: python docs/make_recipe.py"


@pytest.mark.parametrize("name", make_recipe.FIGURES)
def test_the_figures_are_drawn_from_the_rows(tmp_path, name):
    make_recipe.FIGURES[name](tmp_path / name)
    drawn, shown = (file.read_text(encoding="utf-8") for file in (tmp_path / name, make_recipe.IMAGES / name))
    for label in ("ours for 15 minutes, seed 1", "main.py, seed 1", "LSTM, English"):
        assert label in drawn
        assert label in shown


def test_a_moment_that_was_measured_twice_counts_once(tmp_path):
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    row = '{"network": "lstm", "lang": "en", "recipe": "ours", "planned": 300, "seed": 1, "seconds": 60, "perplexity": %s}\n'
    first.write_text(row % 90, encoding="utf-8")
    second.write_text(row % 80, encoding="utf-8")
    assert [found["perplexity"] for found in make_recipe.read_rows([first, second])] == [80]

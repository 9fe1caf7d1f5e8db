"""The screen of a training: the whole table first, then what has changed."""

from dataclasses import replace

import pytest
from concord.probes.accuracy import Table, tabulate
from concord.probes.probe_series import ProbeScreen
from concord.probes.verdicts import judge
from concord.settings import read_run_settings
from concord.settings.probing import read_probe_settings
from numpy.random import default_rng
from rich.console import Console
from synthetic_runs import asked, scores, settings


def table_with(**accuracies: float) -> Table:
    """Of German constructions, all at 1.00 but these."""
    whole = asked("de", 24)
    made = tabulate(whole, judge(whole, scores(whole, 9.0, default_rng(0))))
    rows = [replace(row, all=replace(row.all, correct=row.all.n * accuracies.get(row.construction, 1.0))) for row in made.rows]
    return replace(made, rows=rows)


def text_of(view: object) -> str:
    console = Console(width=100)
    with console.capture() as capture:
        console.print(view)
    return capture.get()


def test_a_model_that_has_learnt_everything_prints_one_table_and_then_lines():
    screen = ProbeScreen()
    said = [text_of(screen.view("de", f"after epoch {epoch}", table_with())) for epoch in range(1, 16)]
    assert said[0].count("1.00") > 14
    assert {text.partition(":")[2].strip() for text in said[1:]} == {"mean 1.00 (0.95–1.00), no changes"}
    assert all(len(text.strip().splitlines()) == 1 for text in said[1:])


def test_after_the_first_table_only_what_changed_is_shown():
    screen = ProbeScreen()
    screen.view("de", "untrained", table_with(prep=0.5, subj_rel=0.5))
    said = text_of(screen.view("de", "after epoch 1", table_with(prep=0.75, subj_rel=0.5)))
    assert "prep" in said
    assert "+0.25" in said
    assert "subj_rel" not in said
    assert "unchanged: 6 of 7" in said


def test_slow_changes_are_shown_once_they_add_up():
    screen = ProbeScreen()
    values = [0.900, 0.903, 0.906, 0.909]
    said = [text_of(screen.view("de", "probe", table_with(prep=value))) for value in values]
    assert ["prep" in text for text in said] == [True, False, True, False]


def test_the_whole_table_comes_each_time_on_demand():
    screen = ProbeScreen(full=True)
    said = [text_of(screen.view("de", "probe", table_with())) for _ in range(3)]
    assert all(text.count("1.00") > 14 for text in said)
    assert "change" in said[1]


def test_collections_have_each_their_own_first_table():
    screen = ProbeScreen()
    screen.view("probe/de/agreement", "untrained", table_with())
    assert text_of(screen.view("probe/fr/agreement", "untrained", table_with())).count("1.00") > 14


@pytest.mark.parametrize("screen", ["short", "full"])
def test_the_screen_changes_no_name(screen):
    made = read_run_settings(settings(f"probes.screen={screen}"))
    plain = {**made.plain, "probes": {name: value for name, value in made.plain["probes"].items() if name != "screen"}}
    assert read_run_settings(plain).run_name() == made.run_name()
    assert read_probe_settings(plain["probes"]).screen == "short"

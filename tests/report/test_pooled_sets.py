"""Published sets with animate and inanimate nouns, pooled: on the screen, in the files and in the report."""

from pathlib import Path

import pytest
from concord.probes.evaluation import evaluate_probe
from concord.probes.models import wrap_function
from concord.probes.probe_display import results_view
from concord.probes.probe_preparation import make_probe
from concord.probes.result_files import read_summary
from concord.report.report_folder import make_report
from concord.settings.probing import ProbeSettings
from rich.console import Console

SETS = {  # the verb of every other noun is plural
    "prep_anim": ["author"],
    "prep_inanim": ["movie", "book", "game", "song"],
    "simple_agrmt": ["author", "guard"],
    "obj_rel_across_anim": ["author"],
}


@pytest.fixture
def folder(tmp_path) -> Path:
    for name, nouns in SETS.items():
        lines = []
        for number, noun in enumerate(nouns):
            forms = ("is", "are") if number % 2 == 0 else ("are", "is")
            plural = "s" if number % 2 else ""
            lines += [f"{flag}\tthe {noun}{plural} {form} new" for flag, form in zip((True, False), forms, strict=True)]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def test_animate_and_inanimate_items_are_pooled_wherever_both_are_asked(folder, tmp_path):
    probe = make_probe(ProbeSettings(name="clams", format="clams", path=str(folder)), "en", "joined")
    model = wrap_function(lambda texts: [[-float(len(word)) for word in text.split()] for text in texts], "short")
    evaluate_probe(probe, [model], tmp_path / "results", {})
    table = read_summary(tmp_path / "results")[0]["short"]
    right = {name: (len(nouns) + 1) // 2 for name, nouns in SETS.items()}  # is, not are
    (pooled,) = table.groups  # of object relatives only the animate ones are here: nothing is pooled
    assert (pooled.key, pooled.over, pooled.n) == ("animacy=prep", ["prep_anim", "prep_inanim"], 5)
    assert pooled.accuracy == (right["prep_anim"] + right["prep_inanim"]) / 5 == 0.6  # and not the mean of both, 0.75
    console = Console(width=120, highlight=False)
    with console.capture() as capture:
        console.print(results_view("clams", table, None))
    assert "all items of prep_anim, prep_inanim" in " ".join(capture.get().split())
    made = make_report([tmp_path / "results"])
    grid = next(grid for grid in made.tables if grid.name == "groups")
    ((label, (cell,)),) = grid.rows
    assert label == "animacy: across a prepositional phrase (items pooled of 2)"
    assert cell.text == "0.60"
    assert dict(cell.numbers)["n"] == 5

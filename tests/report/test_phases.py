"""Phases in a report: from the metrics of runs to tables and a figure that say which rule a model followed, and until when."""

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from concord.data.vocabulary import EOS, EOS_ID, UNK, Vocabulary
from concord.lm.kneser_ney import KneserNey
from concord.probes.heuristics import HEURISTICS, judge_by_rule
from concord.probes.phases import agree_with_rules, rule_metrics
from concord.probes.probe_preparation import judge_by_rules
from concord.probes.verdict_files import read_verdicts, write_table
from concord.report import page
from concord.report.conditions import group_by_condition
from concord.report.figures import draw_figure
from concord.report.figures.phase_figure import STAGES
from concord.report.figures.style import COLOURS
from concord.report.frame import make_frame
from concord.report.gathering import gather_results
from concord.report.phase_tables import PhaseSpan, phase_table, phases_of
from concord.report.report_folder import make_report
from concord.report.stuck_items import find_stuck, stuck_tables
from concord.runs.metrics_file import MetricsFile
from concord.runs.run_folder import RunFolder
from pyarrow import parquet
from synthetic_runs import asked, write_run

MISLED = {"last_noun": [0.5, 0.9, 0.8, 0.3, 0.1], "bigram": [0.6, 0.6, 0.9, 0.6, 0.2]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two seeds of one condition that went from one rule over another to structure."""
    for seed in (1, 2):
        run = RunFolder(write_run(tmp_path / f"runs/r{seed}", asked("de", 12), seed, epochs=1))
        run.metrics.unlink()
        file = MetricsFile(run.metrics)
        for epoch in range(5):
            values = {f"probe/de/agreement/prep/misled_{rule}": found[epoch] for rule, found in MISLED.items()}
            row = {"probe/de/agreement/prep/accuracy": 0.5, "progress/words_seen": epoch * 100_000 + seed if epoch else 0}
            file.log_metrics(row | values, step=epoch * 50)
    return tmp_path / "runs"


def test_a_phase_is_the_rule_that_is_followed_most_while_it_is_followed_more_often_than_not(folder: Path) -> None:
    (condition,) = group_by_condition(gather_results([folder]).results)
    assert phases_of(condition, "prep") == [
        PhaseSpan("last_noun", 100_001.5, 100_001.5),
        PhaseSpan("bigram", 200_001.5, 300_001.5),
        PhaseSpan("structure", 400_001.5, 400_001.5),
    ]


def test_phases_are_a_table_of_the_report(folder: Path) -> None:
    (grid,) = [each for each in make_report([folder]).statistics if each.name == "phases"]
    cells = dict(grid.rows)
    assert [cell.text for cell in cells["across a prepositional phrase"]] == [
        "last noun 100 k, bigram 200 k–300 k, structure from 400 k"
    ]


def test_no_rule_has_the_colour_of_a_stage() -> None:
    assert not {*STAGES.values()} & {*COLOURS}
    css = (Path(page.__file__).parent / "page.css").read_text(encoding="utf-8")
    for theme in re.findall(r"--c0:.*", css):
        assert len({*re.findall(r"#[0-9a-f]{6}", theme)}) == 8, theme


def test_the_figure_has_a_line_for_each_rule_and_names_the_phases(folder: Path) -> None:
    """On the page and for papers from the same numbers; here over the items of one construction, as if it were all."""
    for file in folder.glob("*/metrics.csv"):
        head, rest = file.read_text(encoding="utf-8").split("\n", 1)
        file.write_text(head.replace("/prep/", "/mean/") + "\n" + rest, encoding="utf-8")
    figure = draw_figure(make_frame(make_report([folder]).estimates), "phases")
    right, wrong = figure.axes
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["last noun", "bigram", "structure", "undecided"]
    drawn = {tuple(np.round(line.get_ydata(), 6).tolist()) for line in wrong.get_lines()}
    assert {tuple(round(1 - value, 6) for value in found[1:]) for found in MISLED.values()} <= drawn
    named = [text.get_text() for text in wrong.texts]
    assert "bigram" in named  # from 200 k to 400 k
    assert len(wrong.patches) == len(right.patches) == 3


def test_a_bigram_model_in_place_of_the_network_is_flagged_as_bigram(tmp_path: Path) -> None:
    """It is asked as a network is, while its run says nothing of what it is."""
    sample = asked("en", 60, constructions=("prep", "subj_rel", "simple_agrmt"))
    text = sorted({sentence.words for sentence in sample.sentences})[::3]
    vocabulary = Vocabulary([EOS, UNK, *sorted({word for sentence in sample.sentences for word in sentence.words.split()})])
    lines = [[vocabulary.ids[word] for word in line.split()] + [EOS_ID] for line in text]
    counted = KneserNey(np.concatenate(lines), np.cumsum([0, *map(len, lines)]), len(vocabulary))
    (rules,) = judge_by_rules([sample], counted, vocabulary)
    run = RunFolder(write_run(tmp_path / "runs/r", sample, epochs=1, sample=1000))
    run.metrics.unlink()
    file = MetricsFile(run.metrics)
    for step in (50, 100, 150):
        beside = rule_metrics(agree_with_rules(sample, rules["bigram"], rules), "probe/en/agreement")
        file.log_metrics(beside | {"probe/en/agreement/prep/accuracy": 0.5, "progress/words_seen": step * 100}, step=step)
    (condition,) = group_by_condition(gather_results([run.path]).results)
    assert [span.rule for span in phases_of(condition, "mean")] == ["bigram"]
    assert [span.rule for span in phases_of(condition, "prep")] == ["bigram"]


def test_what_is_wrong_at_the_last_probes_of_every_seed_is_stuck_and_shares_its_cause(tmp_path: Path) -> None:
    """Two models that go with the last noun: stuck is where it misleads, and this is what these items are said to share."""
    whole = asked("de", 40, constructions=("prep",))
    rule = judge_by_rule(whole, HEURISTICS["last noun"])
    wrong = {whole.sets[0].uid(int(whole.contrasts.item[row])) for row in np.flatnonzero(rule.verdict == 0)}
    for seed in (1, 2):
        run = RunFolder(write_run(tmp_path / f"r{seed}", whole, seed, epochs=4, sample=40, finished=False))
        for moment, file in enumerate(sorted(run.probes.glob("*-step*.parquet"))):
            table, about = parquet.read_table(file), read_verdicts(file).about
            verdict = np.where(rule.verdict == 0, 0.0, 1.0) if moment > 1 else np.ones(len(table))
            kept = table.set_column(table.schema.get_field_index("verdict"), "verdict", pa.array(verdict.astype(np.float32)))
            write_table(file, kept, about)
    (condition,) = group_by_condition(gather_results([tmp_path]).results)
    (found,) = find_stuck(condition)
    assert {key[0] for key in found.keys} == wrong
    assert found.items == len(whole.contrasts)
    assert any(fact.fact == "last noun prefers the wrong form" and fact.of_stuck == 1 for fact in found.shared)
    shares, items = stuck_tables([condition])
    assert "last noun prefers the wrong form (100% of the stuck" in shares.rows[0][1][3].text
    assert len(items.rows) == min(len(wrong), 40)
    assert all(" / *" in label for label, _ in items.rows)


def test_runs_that_were_compared_with_no_rule_have_no_phases(tmp_path: Path) -> None:
    run = RunFolder(write_run(tmp_path / "r", asked("de", 12), epochs=1))
    kept = run.metrics.read_text(encoding="utf-8").replace("misled_", "other_").replace("agrees_", "another_")
    run.metrics.write_text(kept, encoding="utf-8")
    assert phase_table(group_by_condition(gather_results([run.path]).results)) is None

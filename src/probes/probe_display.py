"""Probe tables for the terminal."""

import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table as View

from ..terminal import fits, share, show, show_change, show_interval, table
from .accuracy import MEAN, Accuracy, ConstructionRow, GroupRow, Table
from .coverage import FormCoverage, RuleCoverage
from .disagreement import disagreements
from .groupings import NUMBER
from .probe import Probe
from .result_files import means_are_alike, read_summary
from .scorers import WordScores
from .suite_display import ABOUT_SUITES, circuits_view, has_circuits, mean_label, stability_view, suites_view
from .suites.circuits import CIRCUIT
from .verdicts import Verdicts, covered_contrasts

log = logging.getLogger(__name__)
# Reference lines that would make a table too wide for a screen; the run's files have them.
IN_FILES = ("bigram", "4-gram", "5-gram")
HEADS = {"ss": "sg·sg", "sp": "sg·pl", "ps": "pl·sg", "pp": "pl·pl", "matched": "match", "mismatched": "mismatch"}
CONTEXT = "unknown context"  # contrasts scored with an unknown word outside the tested ones
SHOWN = 8  # words listed by name
COVERED = 0.9  # a set of which the vocabulary covers less gets a warning
# The names that readers give to the contrasts of a graded triple.
GRADED = "contrast=g>i"
ABOUT_GRADED = (
    "g>i, i>u, g>u: which sentence of a triple should beat which; g: grammatical; i: intrusive, with a quantifier that does not "
    "license the word; u: ungrammatical, with none"
)
LEGEND = "match: subject and attractor have the same number; mismatch: they differ; sg·pl: singular subject, plural attractor"


def legend(shown: Table) -> str:
    """What the column heads mean, if they appear, and what an indifferent model would score."""
    means = f"{LEGEND}; " if shown.parts_of(NUMBER.name) else ""
    means += f"{ABOUT_GRADED}; " if any(GRADED in row.parts for row in shown.rows) else ""
    means += f"{ABOUT_SUITES}; " if has_circuits(shown) else ""
    return means + _chance_in_words(shown)


def _chance_in_words(shown: Table) -> str:
    chances = shown.chances()
    return f"chance {chances[0]:.2f}" if len(chances) == 1 else "chance differs by construction"


def results_view(title: str, now: Table, before: Table | None = None) -> RenderableType:
    """Accuracy by construction and by the groups of every grouping, with the change since last time."""
    known = now.parts_of(NUMBER.name)
    views: list[RenderableType] = []
    if has_circuits(now):
        views.append(suites_view(title, now, before))
    elif fits(whole := _results(title, now, before, known)) or not known:
        views.append(whole)
    else:
        # In a narrow terminal the breakdown follows as a separate table.
        views += [_results(title, now, before, ()), _numbers_view(now, known)]
    views += [_grouping_view(now, name) for name in now.groupings if name != NUMBER.name and now.parts_of(name)]
    if others := [group for group in now.groups if group.grouping != CIRCUIT]:
        views.append(_groups_view(others))
    return views[0] if len(views) == 1 else Group(*views)


def _numbers_view(now: Table, parts: Sequence[str]) -> View:
    """Accuracy by number of subject and attractor alone."""
    view = table("by number of subject and attractor", "construction", numbers=[HEADS.get(name, name) for name in parts])
    for row in now.rows:
        if any(name in row.parts for name in parts):
            view.add_row(row.construction, *_shares(row, parts))
    view.add_section()
    view.add_row(MEAN, *(share(now.mean.parts.get(part, math.nan)) for part in parts), style="bold")
    return view


def _grouping_view(now: Table, grouping: str) -> View:
    """The groups of one grouping, one row each, within their constructions."""
    view = table(f"by {grouping}", "construction", "group", numbers=["accuracy", "95 %", "chance", "n", "ties", "uncovered"])
    for row in now.rows:
        for name in now.parts_of(grouping):
            if name in row.parts:
                view.add_row(row.construction, name, *_cells(row.parts[name]))
    means = [name for name in now.parts_of(grouping) if name in now.mean.parts]
    view.add_section()
    for name in means:
        over = len(now.mean.parts_over.get(name, now.mean.over))
        view.add_row(f"{MEAN} of {over}", name, share(now.mean.parts[name]), "", "", "", "", "", style="bold")
    return view


def _groups_view(groups: Sequence[GroupRow]) -> View:
    """Groups across constructions."""
    view = table(
        "groups of constructions", "group", numbers=["accuracy", "95 %", "chance", "n", "ties", "uncovered"], last="over"
    )
    for group in groups:
        counts = (f"{group.n:,}", f"{group.ties:,}", f"{group.uncovered:,}")
        how = "all items of" if group.combine == "pool" else "mean of"
        shown = (share(group.accuracy), show_interval(group.interval), share(group.chance))
        view.add_row(group.key, *shown, *counts, f"{how} {', '.join(group.over)}")
    return view


def _cells(accuracy: Accuracy) -> list[str]:
    shown = [share(accuracy.accuracy), show_interval(accuracy.interval), share(accuracy.chance)]
    return [*shown, *(f"{count:,}" for count in (accuracy.n, accuracy.ties, accuracy.uncovered))]


def _results(title: str, now: Table, before: Table | None, parts: Sequence[str]) -> View:
    changed = ["change"] if before else []
    chance = ["chance"] if len(now.chances()) > 1 else []
    heads = (HEADS.get(name, name) for name in parts)
    counts = [CONTEXT] if any(row.all.unknown_context for row in now.rows) else []
    counts += ["repeated"] if any(row.repeated for row in now.rows) else []
    view = table(
        title, "construction", numbers=["accuracy", "95 %", *changed, *chance, *heads, "n", "ties", "uncovered", *counts]
    )
    for row in now.rows:
        cells = [share(row.all.accuracy), show_interval(row.all.interval)]
        cells += [show_change(row.all.accuracy - before.row(row.construction).all.accuracy)] if before else []
        cells += [share(row.all.chance)] if chance else []
        cells += _shares(row, parts)
        further = {CONTEXT: row.all.unknown_context, "repeated": row.repeated}
        numbers = (row.all.n, row.all.ties, row.all.uncovered, *(further[count] for count in counts))
        view.add_row(row.construction, *cells, *(f"{number:,}" for number in numbers))
    view.add_section()
    view.add_row(*_mean_row(now, before, parts, bool(chance)), style="bold")
    return view


def _shares(row: ConstructionRow, parts: Sequence[str]) -> list[str]:
    return [share(row.parts[name].accuracy) if name in row.parts else "" for name in parts]


def _mean_row(now: Table, before: Table | None, parts: Sequence[str], chance: bool) -> list[str]:
    mean = now.mean
    cells = [mean_label(now), share(mean.accuracy), show_interval(mean.interval)]
    cells += [show_change(mean.accuracy - before.mean.accuracy)] if before else []
    cells += [share(mean.chance)] if chance else []
    return [*cells, *(share(mean.parts.get(part, math.nan)) for part in parts)]


def coverage_view(probe: Probe, scores: WordScores, probed: Mapping[str, int] | None = None) -> tuple[View, list[str]]:
    """Before training: how much of each construction a model with this vocabulary covers, and any warnings."""
    known, unknown_context = covered_contrasts(probe, scores)
    view = table(
        f"probes: {probe.language} {probe.name}",
        "construction",
        numbers=["items", *(["sampled"] if probed else []), "covered", "unknown context"],
    )
    none, few = [], []
    for number, each in enumerate(probe.collected):
        own = probe.contrasts.set == number
        rate = float(known[own].mean())
        name = each.challenge_set.construction
        cells = [f"{len(each.challenge_set):,}", *([f"{probed[name]:,}"] if probed else [])]
        view.add_row(name, *cells, f"{rate:.0%}", f"{float(unknown_context[own].mean()):.0%}")
        if rate == 0:
            none.append(name)
        elif rate < COVERED:
            few.append(f"{name} {rate:.0%}")
    return view, _coverage_warnings(none, few)


def _coverage_warnings(none: Sequence[str], few: Sequence[str]) -> list[str]:
    """One line for each kind: a small vocabulary concerns most of the constructions."""
    said = [f"the vocabulary covers no item of {', '.join(none)}: left out of the mean"] if none else []
    return said + ([f"the vocabulary covers less than {COVERED:.0%} of the items of {', '.join(few)}"] if few else [])


def comparison_view(title: str, tables: Mapping[str, Table]) -> View:
    """Several models or reference lines on the same items: accuracy, with mismatched attractors in brackets."""
    first = next(iter(tables.values()))
    if has_circuits(first):
        return circuits_view(title, tables)
    view = table(title, "construction", numbers=list(tables))
    for row in first.rows:
        view.add_row(row.construction, *(_with_mismatched(each.row(row.construction)) for each in tables.values()))
    view.add_section()
    means = (_bracketed(each.mean.accuracy, each.mean.parts.get("mismatched")) for each in tables.values())
    view.add_row(MEAN, *means, style="bold")
    if not means_are_alike(tables.values()):
        # Means over different constructions say how many they cover; in a separate row, since columns must stay narrow.
        view.add_row(f"{MEAN} of", *(f"{len(each.mean.over)}{' ' * 7}" if each.mean.over else "" for each in tables.values()))
    return view


def _with_mismatched(row: ConstructionRow) -> str:
    part = row.parts.get("mismatched")
    return _bracketed(row.all.accuracy, part.accuracy if part and part.n else None)


def _bracketed(value: float, part: float | None) -> str:
    return share(value) + (" " * 7 if part is None or math.isnan(part) else f" ({part:.2f})")


def extent_in_words(extent: Sequence[int] | None) -> str:
    """Whole sets, or how many of their items; empty if an older version did not record it."""
    if extent is None:
        return ""
    asked, there = extent
    return "whole sets, " if asked == there else f"{asked:,} of {there:,} items, "


def show_unknown_words(words: Mapping[str, tuple[Sequence[str], bool]]) -> None:
    """The words of the sets that each model does not know; rules about pieces may have left out more."""
    for name, (unknown, left_out) in words.items():
        if unknown:
            noun = "word" if len(unknown) == 1 else "words"
            kind = f"{noun} unknown or left out" if left_out else f"unknown {noun}"
            log.info("unknown    %s: %s %s: %s", name, f"{len(unknown):,}", kind, few_words(unknown))


def few_words(words: Sequence[str]) -> str:
    return ", ".join(words[:SHOWN]) + (" …" if len(words) > SHOWN else "")


def show_final(folder: Path) -> None:
    """The tables that a finished run saved, with the best weights."""
    for each in sorted(folder.glob("final-*")):
        tables, about = read_summary(each)
        title = f"{about['language']} {about['set']}, {extent_in_words(about.get('extent'))}best weights"
        show(results_view(title, tables["model"]))
        show(legend(tables["model"]))
        asked = {name: one for name, one in tables.items() if one.mean.over and name not in IN_FILES}
        brackets = " (mismatched attractors in brackets)" if tables["model"].parts_of(NUMBER.name) else ""
        if len(asked) > 1:
            show(comparison_view(f"reference lines{brackets}", asked))
        _show_stability({"model": tables["model"]})
        show(f"protocol   {about['contract']['label']}: {about['contract']['statement']}")
        log.info("verdicts   %s", each / "items.parquet")


def _show_stability(tables: Mapping[str, Table]) -> None:
    """Suites without a modifier beside their versions with one."""
    if (view := stability_view(tables)) is not None:
        show(view)


def show_evaluation(
    chosen: Probe, tables: Mapping[str, Table], shown: Mapping[str, Table], perplexities: Mapping[str, Mapping[str, float]]
) -> None:
    """The tables of `evaluate.py`: in full for a single model, one column each for several."""
    shared = run_of(tables)
    title = f"{chosen.language} {chosen.name}" + (f", {shared}" if len(tables) > 1 and shared else "")
    asked, there = chosen.extent
    title += "" if asked == there else f", {asked:,} of {there:,} items"
    title += "" if len(tables) > 1 else f", {next(iter(tables))}"
    first = next(iter(tables.values()))
    by_number = bool(first.parts_of(NUMBER.name))
    if len(tables) == 1:
        show(results_view(title, first))
        title = "reference lines"
        show(legend(first))
    shown = {name: each for name, each in shown.items() if name in tables or each.mean.over}
    if len(shown) > 1:
        shown = {name.removeprefix(f"{shared}/") if len(tables) > 1 else name: each for name, each in shown.items()}
        show(comparison_view(title + (" (mismatched attractors in brackets)" if by_number else ""), shown))
    if len(tables) > 1:
        show("\n".join(count_lines({name.removeprefix(f"{shared}/"): each for name, each in tables.items()})))
    _show_stability({name.removeprefix(f"{shared}/") if len(tables) > 1 else name: each for name, each in tables.items()})
    show_perplexities(perplexities)


def count_lines(tables: Mapping[str, Table]) -> list[str]:
    """What the columns of several models do not say: n, ties, uncovered items and chance; once if they are alike."""
    counts: dict[str, list[str]] = {}
    for name, each in tables.items():
        n, ties, uncovered = (sum(getattr(row.all, what) for row in each.rows) for what in ("n", "ties", "uncovered"))
        unknown = sum(row.all.unknown_context for row in each.rows)
        said = f"n {n:,}, ties {ties:,}, uncovered {uncovered:,}" + (f", {CONTEXT} {unknown:,}" if unknown else "")
        counts.setdefault(said, []).append(name)
    shown = [said if len(counts) == 1 else f"{', '.join(names)}: {said}" for said, names in counts.items()]
    return [f"items      {each}" for each in shown[:-1]] + [
        f"items      {shown[-1]}; {_chance_in_words(next(iter(tables.values())))}"
    ]


def show_contracts(label: str, stated: Mapping[str, str]) -> None:
    """The scoring contracts: once, or for each model if they differ."""
    shared = run_of(stated)
    for said in dict.fromkeys(stated.values()):
        names = [name.removeprefix(f"{shared}/") for name, own in stated.items() if own == said]
        whose = "" if len(names) == len(stated) else f" ({', '.join(names)})"
        show(f"protocol   {label}{whose}: {said}")


def run_of(names: Iterable[str]) -> str:
    """The run these checkpoints (`run/checkpoint`) share, so that columns need not repeat it; empty if there are several."""
    runs = {name.rpartition("/")[0] for name in names}
    return runs.pop() if len(runs) == 1 else ""


def show_perplexities(found: Mapping[str, Mapping[str, float]]) -> None:
    for name, measures in found.items():
        for measure, value in measures.items():
            log.info("%s  %s %s", name, measure, f"{value:,.2f}")


def show_folder(folder: Path) -> None:
    log.info("results    %s", folder)


def show_disagreements(verdicts: Mapping[str, Verdicts]) -> None:
    """Item by item: equal accuracies may hide different verdicts."""
    if len(verdicts) < 2:
        return
    shared = run_of(verdicts)
    verdicts = {name.removeprefix(f"{shared}/"): each for name, each in verdicts.items()}
    found = disagreements({name: np.where(each.covered, each.verdict, np.nan) for name, each in verdicts.items()})
    view = table(
        "disagreement on the items that both cover", "one", "other", numbers=["n", "differ", "share", "only one", "only other"]
    )
    for row in found:
        view.add_row(
            row.one,
            row.other,
            *(f"{n:,}" for n in (row.n, row.differ)),
            share(row.share),
            f"{row.only_one:,}",
            f"{row.only_other:,}",
        )
    show(view)


def show_kept(rows: Sequence[RuleCoverage], forms: FormCoverage) -> None:
    """What published rules for multi-piece targets would keep of each construction."""
    view = table("items kept by each rule", "construction", numbers=["items", "one word", "known", "one piece", "equal pieces"])
    for row in rows:
        view.add_row(row.construction, *(f"{n:,}" for n in row[1:]))
    show(view)
    log.info("tested forms: %s, with several pieces or unknown: %s", f"{len(forms.forms):,}", f"{len(forms.multi_piece):,}")

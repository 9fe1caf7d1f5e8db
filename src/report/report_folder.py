"""A report: gathered, computed, written."""

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from ..errors import UserError
from ..escapes import csv_cell
from ..files import write_atomically
from . import sections
from .baseline import Baseline, explain_uncovered, find_baseline
from .best_runs import keep_best
from .conditions import RunCondition, explain_separations, group_by_condition
from .control_tables import control_tables, withholding_table
from .estimates import Estimates
from .feature_tables import feature_table
from .gathering import GatheredResults, ReadFolders, gather_results
from .grids import Grid, to_csv, to_markdown
from .latex import to_latex
from .methods import method_section
from .page import fill_page, table_html, to_json
from .page_data import items_data, page_data, results_in
from .paper_tables import paper_tables
from .run_list import runs_table
from .statistics_tables import statistics_tables

PAGE = "report.html"


@dataclass(frozen=True)
class ReportParts:
    """Everything that is shown about a group of runs."""

    findings: GatheredResults
    baseline: str | None = None
    crossings: tuple[tuple[str, ...], ...] = ()  # rows and columns of the requested feature tables
    plain: bool = False  # without what needs packages that training does not
    published: bool = False  # with every published column, however few rows it fills
    before: tuple[RunCondition, ...] = ()  # conditions of an earlier build, with everything computed for them

    @cached_property
    def conditions(self) -> list[RunCondition]:
        return group_by_condition(self.findings.results, self.before)

    @cached_property
    def estimates(self) -> Estimates:
        return Estimates(self.conditions)

    @cached_property
    def tables(self) -> list[Grid]:
        return [
            *paper_tables(self.estimates, self.published),
            *(grid for name in self.estimates.sets for grid in self._control_tables(name)),
            *(grid for grid in [withholding_table(self.conditions)] if grid),
            *(feature_table(self.conditions, *asked) for asked in self.crossings),
        ]

    def _control_tables(self, name: str) -> list[Grid]:
        """Of one collection of sets."""
        made = control_tables([condition for condition in self.conditions if condition.first.set == name], self.plain)
        several = len(self.estimates.sets) > 1
        return [replace(each, name=f"{each.name}-{name}", title=f"{each.title}: {name}") if several else each for each in made]

    @cached_property
    def statistics(self) -> list[Grid]:
        return statistics_tables(self.conditions, self.base, self.plain)

    @cached_property
    def base(self) -> Baseline | None:
        return find_baseline(self.conditions, self.baseline) if self.baseline else None

    @cached_property
    def not_compared(self) -> list[str]:
        """Results that the baseline does not cover."""
        return explain_uncovered(self.conditions, self.base) if self.base else []

    @property
    def title(self) -> str:
        results = results_in(self.conditions)
        if len(results) == 1:
            return results[0].name
        names = list(dict.fromkeys(result.set for result in results))
        return f"{sections.join_names(names).capitalize()} in {sections.join_names(sections.language_names(self.conditions))}"

    def html(self) -> str:
        """The whole page."""
        items = {key: to_json(value) for key, value in items_data(self.conditions).items()}
        return fill_page(self.title, self.page_parts(), to_json(page_data(self.estimates)), items)

    def page_parts(self) -> dict[str, str]:
        """HTML by placeholder name."""
        tests = "".join(table_html(grid) for grid in self.statistics)
        made = time.strftime("%Y-%m-%d %H:%M")
        return {
            "summary": sections.summary_section(self.title, self.estimates, self.findings.left_out, self.not_compared),
            "phases": sections.phases_section(self.conditions),
            "tables": "".join(table_html(grid) for grid in self.tables),
            "runs": runs_table(self.conditions),
            "constructions": sections.construction_links(self.estimates),
            "statistics": f'<section id="statistics"><h2>Statistics</h2>{tests}</section>' if tests else "",
            "sources": method_section(self.conditions),
            "footer": f"Made by Concord on {made}. This file is self-contained and needs no network.",
        }

    def notes(self) -> list[str]:
        """What was kept separate, not compared or left out, one line each."""
        return [
            *explain_separations(self.conditions),
            *self.not_compared,
            *(f"left out   {each.path}: {each.why}" for each in self.findings.left_out),
        ]


def make_report(
    paths: Sequence[Path | str],
    baseline: str | None = None,
    crossings: Sequence[tuple[str, ...]] = (),
    published: bool = False,
    best: tuple[int, str] | None = None,
    read: ReadFolders | None = None,
    before: Sequence[RunCondition] = (),
) -> ReportParts:
    """A report on everything under these paths; the baseline's folder need not be among them.

    `best`: only this many runs per condition, those with the lowest value of a metric. `read` and `before`: what an earlier
    build read, and its conditions.
    """
    wanted = list(paths)
    if (
        baseline is not None
        and Path(baseline).is_dir()
        and not any(Path(baseline).resolve().is_relative_to(Path(p).resolve()) for p in paths)
    ):
        wanted.append(baseline)
    found = gather_results(wanted, read)
    if not found.results:
        why = "; ".join(f"{each.path}: {each.why}" for each in found.left_out[:4]) or "the folders are empty"
        raise UserError(f"nothing to report on: {why}")
    found = found if best is None else keep_best(found, *best)
    return ReportParts(found, baseline, tuple(crossings), published=published, before=tuple(before))


def write_report(made: ReportParts, folder: Path, figures: bool = True) -> Path:
    """Write tables, figures and the page; return the page. Whatever an earlier report left there is replaced."""
    if (folder / PAGE).exists():
        for name in ("tables", "figures"):
            shutil.rmtree(folder / name, ignore_errors=True)
    (folder / "tables").mkdir(parents=True, exist_ok=True)
    every = [*made.tables, *made.statistics]
    for grid in every:
        for suffix, written in ((".md", to_markdown), (".csv", to_csv), (".tex", to_latex)):
            (folder / "tables" / f"{grid.name}{suffix}").write_text(written(grid), encoding="utf-8")
    notes = "".join(f"- {note}\n" for note in made.notes())
    text = "\n".join(to_markdown(grid) for grid in every)
    (folder / "tables.md").write_text(f"{text}\n{notes}", encoding="utf-8")
    if figures:
        from .figures import write_figures  # noqa: PLC0415 matplotlib and pandas are slow to import
        from .frame import make_frame  # noqa: PLC0415

        frame = make_frame(made.estimates)
        frame.map(lambda value: csv_cell(value) if isinstance(value, str) else value).to_csv(folder / "data.csv", index=False)
        write_figures(frame, folder / "figures")
    return write_page(made, folder / PAGE)


def write_page(made: ReportParts, file: Path) -> Path:
    """Write the page alone, all or nothing."""
    write_atomically(file, made.html())
    return file

"""A report: gathered, computed, written."""

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..errors import UserError
from . import sections
from .conditions import Group, apart, grouped
from .estimates import Estimates
from .feature_tables import crossed
from .gathering import Gathered, gather
from .grids import Grid, as_csv, latex, markdown
from .methods import sources
from .page import page, table
from .page_data import items_data, page_data, results_of
from .paper_tables import paper_tables
from .run_list import runs
from .statistics_tables import baseline_of, statistics_tables

PAGE = "report.html"


@dataclass(frozen=True)
class Report:
    """Everything that is shown about some runs."""

    gathered: Gathered
    baseline: str | None = None
    crossings: tuple[tuple[str, ...], ...] = ()  # rows and columns of tables by features, as asked for
    plain: bool = False  # without what needs more than training needs
    unchecked: bool = False  # with published numbers that have not been compared with the paper

    @cached_property
    def groups(self) -> list[Group]:
        return grouped(self.gathered.results)

    @cached_property
    def estimates(self) -> Estimates:
        return Estimates(self.groups)

    @cached_property
    def tables(self) -> list[Grid]:
        return [*paper_tables(self.estimates, self.unchecked), *(crossed(self.groups, *asked) for asked in self.crossings)]

    @cached_property
    def statistics(self) -> list[Grid]:
        base = baseline_of(self.groups, self.baseline) if self.baseline else None
        return statistics_tables(self.groups, base, self.plain)

    @property
    def title(self) -> str:
        results = results_of(self.groups)
        if len(results) == 1:
            return results[0].name
        names = list(dict.fromkeys(result.set for result in results))
        return f"{sections.listed(names).capitalize()} in {sections.listed(sections.languages(self.groups))}"

    def html(self) -> str:
        """The whole page."""
        tests = "".join(table(grid) for grid in self.statistics)
        made = time.strftime("%Y-%m-%d %H:%M")
        parts = {
            "summary": sections.summary(self.title, self.estimates, self.gathered.left_out),
            "tables": "".join(table(grid) for grid in self.tables),
            "runs": runs(self.groups),
            "constructions": sections.constructions(self.estimates),
            "statistics": f'<section id="statistics"><h2>Statistics</h2>{tests}</section>' if tests else "",
            "sources": sources(self.groups),
            "footer": f"Made by Concord on {made}. This file needs no network and holds all that it shows.",
        }
        return page(self.title, parts, page_data(self.estimates), items_data(self.groups))

    def notes(self) -> list[str]:
        """What was kept apart and what was left out, a line each."""
        return [*apart(self.groups), *(f"left out   {each.path}: {each.why}" for each in self.gathered.left_out)]


def report(
    paths: Sequence[Path | str],
    baseline: str | None = None,
    crossings: Sequence[tuple[str, ...]] = (),
    unchecked: bool = False,
) -> Report:
    """Of everything under these paths; the baseline's folder may be among them or not."""
    wanted = list(paths)
    if (
        baseline is not None
        and Path(baseline).is_dir()
        and not any(Path(baseline).resolve().is_relative_to(Path(p).resolve()) for p in paths)
    ):
        wanted.append(baseline)
    found = gather(wanted)
    if not found.results:
        why = "; ".join(f"{each.path}: {each.why}" for each in found.left_out[:4]) or "the folders are empty"
        raise UserError(f"there is nothing to report on: {why}")
    return Report(found, baseline, tuple(crossings), unchecked=unchecked)


def write(made: Report, folder: Path, figures: bool = True) -> Path:
    """Tables, figures and the page; returns the page. What an earlier report left there is replaced."""
    if (folder / PAGE).exists():
        for name in ("tables", "figures"):
            shutil.rmtree(folder / name, ignore_errors=True)
    (folder / "tables").mkdir(parents=True, exist_ok=True)
    every = [*made.tables, *made.statistics]
    for grid in every:
        for suffix, written in ((".md", markdown), (".csv", as_csv), (".tex", latex)):
            (folder / "tables" / f"{grid.name}{suffix}").write_text(written(grid), encoding="utf-8")
    notes = "".join(f"- {note}\n" for note in made.notes())
    text = "\n".join(markdown(grid) for grid in every)
    (folder / "tables.md").write_text(f"{text}\n{notes}", encoding="utf-8")
    if figures:
        from .drawing import write_figures  # noqa: PLC0415 matplotlib and pandas are slow to come

        write_figures(made.estimates, folder)
    return write_page(made, folder / PAGE)


def write_page(made: Report, file: Path) -> Path:
    """The page alone, whole or not at all."""
    temporary = file.with_suffix(".new")
    temporary.write_text(made.html(), encoding="utf-8")
    temporary.replace(file)
    return file

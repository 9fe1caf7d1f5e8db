"""The tables and the figure of docs/recipe.md, from what `benchmarks/learning.py --out` wrote.

python docs/make_recipe.py rows.jsonl   keep these rows in docs/recipe/, beside what is kept already
python docs/make_recipe.py              write tables and figure anew from what is kept; a test compares the tables
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from concord.report.wording import language_name
from matplotlib import rc_context
from matplotlib.figure import Figure
from page_tables import fill_page, markdown

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/recipe.md"
KEPT = ROOT / "docs/recipe/learning.jsonl"
FIGURE = ROOT / "docs/images/recipe-curves.svg"
NETWORKS = {"lstm": "LSTM", "transformer": "Transformer"}
RECIPES = {"before": "before", "main": "`main.py`", "ours": "ours"}
COLOURS = {"before": "tab:gray", "main": "tab:orange", "ours": "tab:blue"}
RUN = ("network", "lang", "recipe", "planned", "seed")
SEARCHED = 300  # seconds of a run that only serves the search
MARKS = {60: "1 min", 120: "2 min", 300: "5 min", 900: "15 min", 1800: "30 min"}
ASKED = (300, 900, 1800)  # when agreement is told
DIGITS = 4

Row = dict[str, Any]


def keep(files: list[str]) -> None:
    """Of a moment that was measured twice, the later."""
    rows = read_rows([KEPT, *map(Path, files)])
    ordered = sorted(rows, key=lambda row: tuple(row[name] for name in (*RUN, "seconds")))
    KEPT.write_text("".join(json.dumps(_rounded(row), ensure_ascii=False) + "\n" for row in ordered), encoding="utf-8")


def read_rows(files: Iterable[Path]) -> list[Row]:
    lines = [line for file in files if file.exists() for line in file.read_text(encoding="utf-8").splitlines()]
    return list({tuple(row[name] for name in (*RUN, "seconds")): row for row in map(json.loads, lines)}.values())


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    return round(value, DIGITS) if isinstance(value, float) else value


def tables() -> dict[str, str]:
    """In Markdown, by the names of their places in the page."""
    rows = read_rows([KEPT])
    compared = [row for row in rows if row["recipe"] in RECIPES and row["planned"] > SEARCHED]
    searched = [row for row in rows if row["recipe"] not in RECIPES or row["planned"] == SEARCHED]
    return {"curves": _curves(compared), "agreement": _agreement(compared), "search": _search(searched)}


def _by_condition(rows: Iterable[Row]) -> dict[tuple[str, str, str, float], list[Row]]:
    """Rows of seeds together, in the order of the page."""
    found: dict[tuple[str, str, str, float], list[Row]] = defaultdict(list)
    for row in sorted(
        rows, key=lambda row: (row["network"], row["lang"] != "en", row["planned"], list(RECIPES).index(row["recipe"]))
    ):
        found[row["network"], row["lang"], row["recipe"], row["planned"]].append(row)
    return found


def _heads(condition: tuple[str, str, str, float]) -> list[str]:
    network, lang, recipe, planned = condition
    return [f"{NETWORKS[network]}, {language_name(lang)}", RECIPES[recipe], f"{planned / 60:g} min"]


def _curves(rows: list[Row]) -> str:
    """Perplexity at each mark, one number per seed."""
    lines = []
    for condition, own in _by_condition(rows).items():
        last = [row for row in own if row["seconds"] == row["planned"]]
        speed = f"{sum(row['tokens_per_second'] for row in last) / len(last):,.0f}" if last else "–"
        cells = [", ".join(f"{row['perplexity']:.1f}" for row in own if row["seconds"] == mark) or "–" for mark in MARKS]
        lines.append([*_heads(condition), speed, *cells])
    return markdown(["", "recipe", "budget", "tokens/s", *MARKS.values()], lines)


def _agreement(rows: list[Row]) -> str:
    """Means over seeds: accuracy, rise, and the probability of the plural form after singular and plural subjects."""
    forms = {row["lang"]: [name for name in row if "/" in name] for row in rows}  # of each language in the same order
    lines = []
    for condition, own in _by_condition(rows).items():
        for mark in (each for each in ASKED if any(row["seconds"] == each for row in own)):
            now = [row for row in own if row["seconds"] == mark]
            cells = [_shown([row[each] for row in now]) for each in forms[condition[1]]]
            lines.append([*_heads(condition), MARKS[mark], *cells, _mean_of_sets(now)])
    pairs = [f"*{', '.join(each)}*" for each in zip(*forms.values(), strict=True)]
    return markdown(["", "recipe", "budget", "after", *pairs, "seven constructions"], lines)


def _mean_of_sets(rows: list[Row]) -> str:
    """One number per seed; the first runs were not probed."""
    return ", ".join(f"{row['sets']['mean']:.2f}" for row in rows if "sets" in row) or "–"


def _shown(found: list[dict[str, float]]) -> str:
    mean = {name: sum(each[name] for each in found) / len(found) for name in found[0]}
    return f"{mean['accuracy']:.2f}, {mean['rise']:+.2f} ({mean['after singular']:.3f}, {mean['after plural']:.3f})"


def _search(rows: list[Row]) -> str:
    """Single runs of other recipes, beside ours for the same time: best first."""
    last = [row for row in rows if row["seconds"] == row["planned"]]
    lines = []
    for row in sorted(last, key=lambda row: (row["network"], row["lang"] != "en", row["planned"], row["perplexity"])):
        recipe = RECIPES.get(row["recipe"]) or f"ours with `{row['recipe'].removeprefix('ours ')}`"
        told = [f"{NETWORKS[row['network']]}, {language_name(row['lang'])}", f"{row['planned'] / 60:g} min", recipe]
        rises = [f"{row[name]['rise']:+.2f}" for name in row if "/" in name]
        lines.append([*told, f"{row['perplexity']:.1f}", " ".join(rises)])
    return markdown(["", "budget", "recipe", "perplexity", "rise"], lines)


def filled(page: str) -> str:
    """The page with today's tables between its marks."""
    return fill_page(page, tables())


def draw_figure(file: Path) -> None:
    """One panel per language and network, one line per recipe and seed."""
    rows = [row for row in read_rows([KEPT]) if row["recipe"] in RECIPES and row["planned"] > SEARCHED]
    panels = list(dict.fromkeys(condition[:2] for condition in _by_condition(rows)))
    figure = Figure(figsize=(4.2 * len(panels), 4), layout="tight")
    axes = figure.subplots(1, len(panels), squeeze=False)
    for axis, (network, lang) in zip(axes[0], panels, strict=True):
        own = [row for row in rows if (row["network"], row["lang"]) == (network, lang)]
        for run in sorted({tuple(row[name] for name in RUN) for row in own}, key=str):
            recipe, planned, seed = run[2:]
            points = sorted((row["seconds"] / 60, row["perplexity"]) for row in own if tuple(row[name] for name in RUN) == run)
            style = "-" if seed == 1 else "--"
            alpha = 1.0 if planned == max(row["planned"] for row in own) else 0.5  # shorter budgets are paler
            label = f"{RECIPES[recipe].strip('`')}, seed {seed}, {planned / 60:g} min"
            axis.plot(*zip(*points, strict=True), f"o{style}", label=label, color=COLOURS[recipe], alpha=alpha, markersize=4)
        shown = [mark / 60 for mark in MARKS]
        axis.set(xscale="log", yscale="log", xlabel="CPU minutes", title=f"{NETWORKS[network]}, {language_name(lang)}")
        axis.set_xticks(shown, [f"{mark:g}" for mark in shown])
        axis.minorticks_off()
        levels = [60, 80, 100, 150, 200, 300, 400]
        axis.set_yticks(levels, [str(level) for level in levels])
        axis.legend(fontsize=8)
    axes[0][0].set_ylabel("validation perplexity")
    with rc_context({"svg.hashsalt": "concord", "svg.fonttype": "none"}):
        figure.savefig(file, metadata={"Date": None})


if __name__ == "__main__":
    if sys.argv[1:]:
        keep(sys.argv[1:])
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    draw_figure(FIGURE)

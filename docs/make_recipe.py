"""The tables and figures of docs/recipe.md, from what `benchmarks/learning.py --out` wrote.

python docs/make_recipe.py rows.jsonl   keep these rows in docs/recipe/, beside what is kept already
python docs/make_recipe.py              write tables and figures anew from what is kept; a test compares the tables
"""

import json
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import mean
from typing import Any

from concord.report.wording import language_name
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from page_tables import fill_page, markdown

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/recipe.md"
KEPT = ROOT / "docs/recipe/learning.jsonl"
IMAGES = ROOT / "docs/images"
NETWORKS = {"lstm": "LSTM", "transformer": "Transformer"}
EARLIER = "ours model.optimizer.lr=0.006 model.optimizer.eps=1e-5"  # what `auto` stood for, for an LSTM, until the last search
RECIPES = {"before": "before", "main": "`main.py`", EARLIER: "ours, 0.006 and 1e-5", "ours": "ours"}
COLOURS = {"before": "tab:gray", "main": "tab:orange", EARLIER: "tab:cyan", "ours": "tab:blue"}
RUN = ("network", "lang", "recipe", "planned", "seed")
SEARCHED = 300  # seconds of a run that only serves the search
MARKS = {60: "1 min", 120: "2 min", 300: "5 min", 900: "15 min", 1800: "30 min"}
EARLY = 120  # when the table of agreement is told for the first time; for the second, at the end
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
    compared = _compared(rows)
    searched = [row for row in rows if row not in compared]
    return {
        "curves": _curves(compared),
        "agreement": _agreement(compared),
        "prose": _prose([row for row in compared if "prose" in row]),
        "search": _search(searched),
    }


def _compared(rows: list[Row]) -> list[Row]:
    """Not the search, nor short runs. Earlier values stand for ours where today's have not been measured for as long."""
    ours = {_condition(row) for row in rows if row["recipe"] == "ours"}
    long = [row for row in rows if row["recipe"] in RECIPES and row["planned"] > SEARCHED]
    return [row for row in long if row["recipe"] != EARLIER or _condition(row) not in ours]


def _condition(row: Row) -> tuple[str, str, float]:
    return row["network"], row["lang"], row["planned"]


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
        speed = ", ".join(f"{row['tokens_per_second']:,.0f}" for row in _ends(own))
        cells = [", ".join(f"{row['perplexity']:.1f}" for row in own if row["seconds"] == mark) or "–" for mark in MARKS]
        lines.append([*_heads(condition), speed, *cells])
    return markdown(["", "recipe", "budget", "tokens/s", *MARKS.values()], lines)


def _ends(rows: list[Row]) -> list[Row]:
    """Of each seed, the last that was measured."""
    return list({row["seed"]: row for row in sorted(rows, key=lambda row: (row["seed"], row["seconds"]))}.values())


def _agreement(rows: list[Row]) -> str:
    """At the end, means over seeds: accuracy, rise, and the probability of the plural form after singular and plural subjects."""
    forms = {row["lang"]: [name for name in row if "/" in name] for row in rows}  # of each language in the same order
    lines = []
    for condition, own in _by_condition(rows).items():
        now = _ends(own)
        cells = [_shown([row[each] for row in now]) for each in forms[condition[1]]]
        lines.append([*_heads(condition)[:2], MARKS[now[0]["seconds"]], *cells, _mean_of_sets(now)])
    return markdown(["", "recipe", "after", *_named(forms), "seven constructions"], lines)


def _prose(rows: list[Row]) -> str:
    """Where an author chose between the forms, early and at the end: means over seeds, with the standard error of one seed."""
    pairs = {row["lang"]: list(row["prose"]) for row in rows}  # of each language in the same order
    lines = []
    for condition, own in _by_condition(rows).items():
        for now in ([row for row in own if row["seconds"] == EARLY], _ends(own)):
            cells = [_chosen([row["prose"][pair] for row in now]) for pair in pairs[condition[1]]]
            lines.append([*_heads(condition)[:2], MARKS[now[0]["seconds"]], *cells])
    return markdown(["", "recipe", "after", *_named(pairs)], lines)


def _chosen(found: list[dict[str, float]]) -> str:
    accuracy, rise, error = (sum(each[name] for each in found) / len(found) for name in ("accuracy", "rise", "error"))
    return f"{accuracy:.2f}, {rise:+.2f} ± {error:.2f}"


def _named(pairs: Mapping[str, Sequence[str]]) -> list[str]:
    """The forms of all languages that one column is about."""
    return [f"*{', '.join(each)}*" for each in zip(*pairs.values(), strict=True)]


def _mean_of_sets(rows: list[Row]) -> str:
    """One number per seed; the first runs were not probed."""
    return ", ".join(f"{row['sets']['mean']:.2f}" for row in rows if "sets" in row) or "–"


def _shown(found: list[dict[str, float]]) -> str:
    names = ("accuracy", "rise", "after singular", "after plural")
    accuracy, rise, singular, plural = (sum(each[name] for each in found) / len(found) for name in names)
    return f"{accuracy:.2f}, {rise:+.2f} ({singular:.3f}, {plural:.3f})"


def _search(rows: list[Row]) -> str:
    """Single runs of other recipes, beside ours for the same time: best first. Machines differ, so each has its speed."""
    last = [row for row in rows if row["seconds"] == row["planned"]]
    lines = []
    for row in sorted(last, key=lambda row: (row["network"], row["lang"] != "en", row["planned"], row["perplexity"])):
        recipe = RECIPES.get(row["recipe"]) or f"ours with `{row['recipe'].removeprefix('ours ')}`"
        told = [f"{NETWORKS[row['network']]}, {language_name(row['lang'])}", f"{row['planned'] / 60:g} min", recipe]
        rises = [f"{row[name]['rise']:+.2f}" for name in row if "/" in name]
        speed = f"{row['tokens_per_second']:,.0f}"
        lines.append([*told, str(row["seed"]), speed, f"{row['perplexity']:.1f}", " ".join(rises)])
    return markdown(["", "budget", "recipe", "seed", "tokens/s", "perplexity", "rise"], lines)


def filled(page: str) -> str:
    """The page with today's tables between its marks."""
    return fill_page(page, tables())


def draw_perplexity(file: Path) -> None:
    """Over time, on logarithmic axes."""
    levels = [60, 80, 100, 150, 200, 300, 400]
    with _panels(file, _compared(read_rows([KEPT])), lambda row: row["perplexity"]) as axes:
        for axis in axes:
            axis.set(yscale="log", ylabel="validation perplexity")
            axis.set_yticks(levels, [str(level) for level in levels])
            axis.minorticks_off()


def draw_agreement(file: Path) -> None:
    """Accuracy where an author chose between two forms, the mean of the three pairs, over time."""
    rows = [row for row in _compared(read_rows([KEPT])) if "prose" in row]
    with _panels(file, rows, lambda row: mean(found["accuracy"] for found in row["prose"].values())) as axes:
        for axis in axes:
            axis.axhline(0.5, color="gray", linewidth=0.8, linestyle=":")
            axis.set(ylim=(0.48, 0.86), ylabel="accuracy, mean of three pairs of forms")


@contextmanager
def _panels(file: Path, rows: list[Row], value: Callable[[Row], float]) -> Iterator[list[Axes]]:
    """One panel per network, language and budget, one line per recipe and seed: budgets were measured on different machines."""
    panels = list(dict.fromkeys((network, lang, planned) for network, lang, _, planned in _by_condition(rows)))
    figure = Figure(figsize=(8.4, 3.6 * math.ceil(len(panels) / 2)), layout="tight")
    axes = figure.subplots(math.ceil(len(panels) / 2), 2, squeeze=False).flatten().tolist()
    for axis, (network, lang, planned) in zip(axes, panels, strict=False):
        own = [row for row in rows if _condition(row) == (network, lang, planned)]
        for recipe, seed in sorted({(row["recipe"], row["seed"]) for row in own}):
            points = sorted((row["seconds"] / 60, value(row)) for row in own if (row["recipe"], row["seed"]) == (recipe, seed))
            label = f"{RECIPES[recipe].strip('`')}, seed {seed}"
            style = f"o{'-' if seed == 1 else '--'}"
            axis.plot(*zip(*points, strict=True), style, label=label, color=COLOURS[recipe], markersize=4)
        shown = [mark / 60 for mark in MARKS if mark <= planned]
        title = f"{NETWORKS[network]}, {language_name(lang)}, {planned / 60:g} minutes"
        axis.set(xscale="log", title=title, xlabel="CPU minutes")
        axis.set_xticks(shown, [f"{mark:g}" for mark in shown])
        axis.minorticks_off()
        axis.legend(fontsize=8)
    for axis in axes[len(panels) :]:
        axis.remove()
    yield axes[: len(panels)]
    with rc_context({"svg.hashsalt": "concord", "svg.fonttype": "none"}):
        figure.savefig(file, metadata={"Date": None})


FIGURES = {"recipe-curves.svg": draw_perplexity, "recipe-agreement.svg": draw_agreement}


if __name__ == "__main__":
    if sys.argv[1:]:
        keep(sys.argv[1:])
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    for name, draw in FIGURES.items():
        draw(IMAGES / name)

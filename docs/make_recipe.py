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
FASTER = ROOT / "docs/recipe/faster_machine.jsonl"  # an earlier comparison, at other speeds
IMAGES = ROOT / "docs/images"
NETWORKS = {"lstm": "LSTM", "transformer": "Transformer"}
RECIPES = {"before": "before", "main": "`main.py`", "ours": "ours"}
COLOURS = {"before": "tab:gray", "main": "tab:orange", "ours": "tab:blue"}
ENDLESS = "main"  # its rate does not depend on how long it will run
RUN = ("network", "lang", "recipe", "planned", "seed")
SEARCHED = 300  # seconds of a run that only serves the search
MARKS = {60: "1 min", 120: "2 min", 300: "5 min", 900: "15 min", 1800: "30 min"}
TOLD = {"prose": (120, 900, 1800), "agreement": (300, 900, 1800)}  # when agreement is told
DIGITS = 4

Row = dict[str, Any]
Condition = tuple[str, str, str, float]  # network, language, recipe, seconds planned


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
        "faster": _curves(read_rows([FASTER])),
        "agreement": _agreement(compared),
        "prose": _prose([row for row in compared if "prose" in row]),
        "search": _search(searched),
    }


def _compared(rows: list[Row]) -> list[Row]:
    """Neither the search nor short runs."""
    return [row for row in rows if row["recipe"] in RECIPES and row["planned"] > SEARCHED]


def _budget(row: Row) -> float:
    return math.inf if row["recipe"] == ENDLESS else row["planned"]


def _by_condition(rows: Iterable[Row]) -> dict[Condition, list[Row]]:
    """Rows of seeds together, in the order of the page; seeds in their order."""
    found: dict[Condition, list[Row]] = defaultdict(list)

    def place(row: Row) -> tuple[Any, ...]:
        return row["network"], row["lang"] != "en", list(RECIPES).index(row["recipe"]), _budget(row), row["seed"]

    for row in sorted(rows, key=place):
        found[row["network"], row["lang"], row["recipe"], _budget(row)].append(row)
    return found


def _heads(condition: Condition) -> list[str]:
    network, lang, recipe, budget = condition
    return [
        f"{NETWORKS[network]}, {language_name(lang)}",
        RECIPES[recipe],
        f"{budget / 60:g} min" if math.isfinite(budget) else "–",
    ]


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
    """Means over seeds: accuracy, rise, and the probability of the plural form after singular and plural subjects."""
    forms = {row["lang"]: [name for name in row if "/" in name] for row in rows}  # of each language in the same order
    lines = [
        [*heads, *(_shown([row[each] for row in now]) for each in forms[now[0]["lang"]]), _mean_of_sets(now)]
        for heads, now in _at(TOLD["agreement"], rows)
    ]
    return markdown(["", "recipe", "budget", "after", "seeds", *_named(forms), "seven constructions"], lines)


def _prose(rows: list[Row]) -> str:
    """Where an author chose between the forms: means over seeds, with the standard error of one seed."""
    pairs = {row["lang"]: list(row["prose"]) for row in rows}  # of each language in the same order
    lines = [
        [*heads, *(_chosen([row["prose"][pair] for row in now]) for pair in pairs[now[0]["lang"]])]
        for heads, now in _at(TOLD["prose"], rows)
    ]
    return markdown(["", "recipe", "budget", "after", "seeds", *_named(pairs)], lines)


def _at(marks: Sequence[int], rows: list[Row]) -> Iterator[tuple[list[str], list[Row]]]:
    """The seeds of a condition that were measured at each of these moments."""
    for condition, own in _by_condition(rows).items():
        for mark in marks:
            if now := [row for row in own if row["seconds"] == mark]:
                yield [*_heads(condition), MARKS[mark], str(len(now))], now


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
    """One panel per network and language, one line per recipe, budget and seed."""
    panels = list(dict.fromkeys((network, lang) for network, lang, *_ in _by_condition(rows)))
    figure = Figure(figsize=(8.4, 3.6 * math.ceil(len(panels) / 2)), layout="tight")
    axes = figure.subplots(math.ceil(len(panels) / 2), 2, squeeze=False).flatten().tolist()
    for axis, (network, lang) in zip(axes, panels, strict=False):
        own = [row for row in rows if (row["network"], row["lang"]) == (network, lang)]
        longest = max(row["planned"] for row in own if row["recipe"] == "ours")
        for (_, _, recipe, budget), found in _by_condition(own).items():
            for seed in sorted({row["seed"] for row in found}):
                points = sorted((row["seconds"] / 60, value(row)) for row in found if row["seed"] == seed)
                planned = f" for {budget / 60:g} minutes" if recipe == "ours" else ""
                label = f"{RECIPES[recipe].strip('`')}{planned}, seed {seed}"
                style = f"o{'-' if seed == 1 else '--'}"
                strength = 0.45 if recipe == "ours" and budget < longest else 1.0
                axis.plot(*zip(*points, strict=True), style, label=label, color=COLOURS[recipe], alpha=strength, markersize=4)
        shown = [mark / 60 for mark in MARKS if mark <= max(row["seconds"] for row in own)]
        axis.set(xscale="log", title=f"{NETWORKS[network]}, {language_name(lang)}", xlabel="CPU minutes")
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

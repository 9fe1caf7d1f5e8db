"""Tables for LaTeX: a comment says which packages they need, and none is wider or longer than a page."""

from collections.abc import Iterable
from dataclasses import replace

from .grids import LAST, Cell, Grid, spans

PORTRAIT, LANDSCAPE = 95, 150  # letters that fit across a page, and across one that is turned
LONG = 45  # letters: longer cells are broken into lines
ROWS = 40  # more go over several pages
# What LaTeX would take for a command, and what its fonts do not have.
TEX = str.maketrans(
    {
        **{char: f"\\{char}" for char in "&%_#${}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "±": r"$\pm$",
        "−": "$-$",
        "×": r"$\times$",
        "≥": r"$\geq$",
        "≤": r"$\leq$",
        "½": r"$\frac12$",
        "·": r"$\cdot$",
        "τ": r"$\tau$",
        "ρ": r"$\rho$",
        "†": r"$\dagger$",
        "–": "--",
        "…": r"\dots{}",
        "\u00a0": "~",
    }
)


def to_latex(grid: Grid) -> str:
    """Turned where it is wider than a page, in parts where it is wider than that; a longtable where it is longer."""
    parts = _fit_page(grid)
    needed = ["booktabs", *(["longtable"] if len(grid.rows) > ROWS else [])]
    needed += ["pdflscape"] if any(_width(part) > PORTRAIT for part in parts) else []
    said = " ".join(rf"\usepackage{{{name}}}" for name in needed)
    return f"% needs {said}\n" + "".join(_table(part) for part in parts)


def _fit_page(grid: Grid) -> list[Grid]:
    """Columns that fit a turned page together; each part has the rows' names."""
    widths, room = _widths(grid), LANDSCAPE
    groups: list[list[int]] = [[]]
    for place, width in enumerate(widths[1:]):
        if groups[-1] and widths[0] + sum(widths[1 + each] for each in groups[-1]) + width > room:
            groups.append([])
        groups[-1].append(place)
    if len(groups) == 1:
        return [grid]
    return [
        replace(
            grid,
            name=f"{grid.name}-{number}",
            title=f"{grid.title} ({number} of {len(groups)})",
            heads=tuple(grid.heads[place] for place in own),
            rows=tuple((label, tuple(cells[place] for place in own)) for label, cells in grid.rows),
        )
        for number, own in enumerate(groups, start=1)
    ]


def _widths(grid: Grid) -> list[int]:
    """Of the names of rows and of every column, in letters, with the space beside it."""
    columns = [[head.name, *(cells[place].text for _, cells in grid.rows)] for place, head in enumerate(grid.heads)]
    return [min(max(map(len, texts)), LONG) + 2 for texts in ([grid.corner, *(label for label, _ in grid.rows)], *columns)]


def _width(grid: Grid) -> int:
    return sum(_widths(grid))


def _table(grid: Grid) -> str:
    wide = ([r"\begin{landscape}"], [r"\end{landscape}"]) if _width(grid) > PORTRAIT else ([], [])
    kinds = [_column(label for label, _ in grid.rows) or "l"]
    kinds += [_column(cells[place].text for _, cells in grid.rows) or "r" for place in range(len(grid.heads))]
    heads = " & ".join(_tex(head.name + (" †" if head.published else "")) for head in grid.heads)
    top = [r"\toprule", *_tops(grid), f"{_tex(grid.corner)} & {heads} " + r"\\", r"\midrule"]
    caption, label = rf"\caption{{{_tex(grid.title)}. {_tex(grid.note)}}}", rf"\label{{tab:{grid.name}}}"
    body: list[str] = []
    for name, cells in grid.rows:
        body += [r"\midrule"] if name == LAST else []
        body.append(f"{_tex(name)} & " + " & ".join(map(_tex_cell, cells)) + r" \\")
    if len(grid.rows) > ROWS:
        begin = [rf"\begin{{longtable}}{{{''.join(kinds)}}}", caption + label + r"\\", *top, r"\endhead"]
        end = [r"\bottomrule", r"\end{longtable}"]
    else:
        begin = [r"\begin{table}", r"\centering", caption, label, rf"\begin{{tabular}}{{{''.join(kinds)}}}", *top]
        end = [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join([*wide[0], *begin, *body, *end, *wide[1], ""])


def _column(texts: Iterable[str]) -> str:
    """Of long texts, a column that breaks them into lines."""
    return r"p{0.3\linewidth}" if max(map(len, texts), default=0) > LONG else ""


def _tex_cell(cell: Cell) -> str:
    text = _tex(cell.text)
    text = rf"\underline{{{text}}}" if cell.under else text
    return rf"\textbf{{{text}}}" if cell.best else text


def _tops(grid: Grid) -> list[str]:
    """What stands over several columns, underlined as far as it goes."""
    if not any(head.top for head in grid.heads):
        return []
    over, rules, first = [], [], 2
    for top, width in spans(grid.heads):
        over.append(rf"\multicolumn{{{width}}}{{c}}{{{_tex(top)}}}")
        rules += [rf"\cmidrule(lr){{{first}-{first + width - 1}}}"] if top else []
        first += width
    return [" & " + " & ".join(over) + r" \\", " ".join(rules)]


def _tex(text: str) -> str:
    return text.translate(TEX)

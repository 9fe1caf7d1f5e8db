"""Tables for LaTeX: a comment lists the packages they need, and none is wider or longer than a page of its article class.

Everything is set in footnotesize with narrow columns; widths are counted in letters until compared with a page.
"""

import math
import textwrap
from collections.abc import Iterable
from dataclasses import replace

from .grids import LAST, Cell, Grid, spans

PORTRAIT, LANDSCAPE = 345.0, 550.0  # points across a page of the class article, upright and rotated
LETTER, GAP, LINE = 4.6, 6.0, 9.7  # points: a letter, the gap between columns, a line; measured on compiled tables
CAPTION_LETTER = 4.1  # running text is narrower than digits
RULES = 34.0  # points: rules, the space around them and around the caption
LONG = 45  # letters: longer cells are wrapped
HEAD = 12  # letters: minimum line length in a column head
LATIN = 0x24F  # the last letter that pdfLaTeX's fonts are sure to have
# Characters LaTeX would read as commands, and characters its fonts lack.
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
    """Rotated if wider than a page, split if wider than that; a longtable if longer than a page."""
    parts = _fit_page(grid)
    needed = ["booktabs", *(["longtable"] if any(map(_is_long, parts)) else [])]
    needed += ["pdflscape"] if any(map(_is_wide, parts)) else []
    said = " ".join(rf"\usepackage{{{name}}}" for name in needed)
    return f"% needs {said}\n" + _about_letters(grid) + "".join(_table(part) for part in parts)


def _about_letters(grid: Grid) -> str:
    texts = [grid.title, grid.note, *(label for label, _ in grid.rows), *(c.text for _, cells in grid.rows for c in cells)]
    rare = sorted({char for text in texts for char in text if char.isalpha() and ord(char) > LATIN and ord(char) not in TEX})
    if not rare:
        return ""
    shown = " ".join(rare[:12]) + (" …" if rare[12:] else "")
    return f"% compile with LuaLaTeX or XeLaTeX and a font that has these letters: {shown}\n"


def _fit_page(grid: Grid) -> list[Grid]:
    """Groups of columns that fit a rotated page; each part repeats the row names."""
    widths = [_points(letters) for letters in _widths(grid)]
    groups: list[list[int]] = [[]]
    for place, width in enumerate(widths[1:]):
        if groups[-1] and widths[0] + sum(widths[1 + each] for each in groups[-1]) + width > LANDSCAPE:
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


def _points(letters: int) -> float:
    return letters * LETTER + GAP


def _widths(grid: Grid) -> list[int]:
    """Widths of the row names and of every column, in letters; heads are wrapped, so their longest word counts."""
    columns = [[cells[place].text for _, cells in grid.rows] for place in range(len(grid.heads))]
    widths = [min(max(map(len, [grid.corner, *(label for label, _ in grid.rows)])), LONG)]
    for head, texts in zip(grid.heads, columns, strict=True):
        words = max(map(len, _head_name(head.name, head.published).split()), default=0)
        widths.append(max(min(max(map(len, texts), default=0), LONG), min(words, LONG), min(len(head.name), HEAD)))
    first = 1
    for top, count in spans(grid.heads):
        missing = max(map(len, top.split()), default=0) - sum(widths[first : first + count])
        widths[first] += max(missing, 0)
        first += count
    return widths


def _is_wide(grid: Grid) -> bool:
    return sum(map(_points, _widths(grid))) > PORTRAIT


def _is_long(grid: Grid) -> bool:
    """Whether head, rows and caption are taller than the page the table is set on."""
    across, down = (LANDSCAPE, PORTRAIT) if _is_wide(grid) else (PORTRAIT, LANDSCAPE)
    caption = math.ceil(len(f"{grid.title}. {grid.note}") * CAPTION_LETTER / across)
    heads = max((len(_lines(head.name, width)) for head, width in zip(grid.heads, _widths(grid)[1:], strict=True)), default=1)
    rows = sum(max(math.ceil(len(text) / LONG) for text in (label, *(c.text for c in cells))) for label, cells in grid.rows)
    return (caption + heads + 2 + rows) * LINE + RULES > down


def _lines(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, max(width, 1), break_long_words=False, break_on_hyphens=False) or [""]


def _head_name(name: str, published: bool) -> str:
    return name + (" †" if published else "")


def _stack(text: str, width: int, side: str) -> str:
    """Wrap over as many lines as needed."""
    lines = [_tex(line) for line in _lines(text, width)]
    return lines[0] if len(lines) == 1 else rf"\shortstack[{side}]{{{(chr(92) * 2).join(lines)}}}"


def _table(grid: Grid) -> str:
    wide = ([r"\begin{landscape}"], [r"\end{landscape}"]) if _is_wide(grid) else ([], [])
    widths = _widths(grid)
    kinds = [_column(label for label, _ in grid.rows) or "l"]
    kinds += [_column(cells[place].text for _, cells in grid.rows) or "r" for place in range(len(grid.heads))]
    named = zip(grid.heads, widths[1:], strict=True)
    heads = " & ".join(_stack(_head_name(head.name, head.published), max(width, HEAD), "r") for head, width in named)
    top = [r"\toprule", *_tops(grid, widths[1:]), f"{_tex(grid.corner)} & {heads} " + r"\\", r"\midrule"]
    caption, label = rf"\caption{{{_tex(grid.title)}. {_tex(grid.note)}}}", rf"\label{{tab:{grid.name}}}"
    body: list[str] = []
    for name, cells in grid.rows:
        body += [r"\midrule"] if name == LAST else []
        body.append(f"{_tex(name)} & " + " & ".join(map(_tex_cell, cells)) + r" \\")
    small = [r"\footnotesize", rf"\setlength{{\tabcolsep}}{{{GAP / 2:g}pt}}"]
    if _is_long(grid):
        small = [r"\begingroup", *small, r"\setlength{\LTcapwidth}{\linewidth}"]
        begin = [*small, rf"\begin{{longtable}}{{{''.join(kinds)}}}", caption + label + r"\\", *top, r"\endhead"]
        end = [r"\bottomrule", r"\end{longtable}", r"\endgroup"]
    else:
        begin = [r"\begin{table}", r"\centering", *small, caption, label, rf"\begin{{tabular}}{{{''.join(kinds)}}}", *top]
        end = [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join([*wide[0], *begin, *body, *end, *wide[1], ""])


def _column(texts: Iterable[str]) -> str:
    """For long texts, a column that wraps them."""
    return f"p{{{LONG * LETTER:.0f}pt}}" if max(map(len, texts), default=0) > LONG else ""


def _tex_cell(cell: Cell) -> str:
    text = _tex(cell.text)
    text = rf"\underline{{{text}}}" if cell.under else text
    return rf"\textbf{{{text}}}" if cell.best else text


def _tops(grid: Grid, widths: list[int]) -> list[str]:
    """Headings that span several columns, underlined over their span."""
    if not any(head.top for head in grid.heads):
        return []
    over, rules, first = [], [], 2
    for top, width in spans(grid.heads):
        letters = sum(widths[first - 2 : first - 2 + width])
        over.append(rf"\multicolumn{{{width}}}{{c}}{{{_stack(top, letters, 'c')}}}")
        rules += [rf"\cmidrule(lr){{{first}-{first + width - 1}}}"] if top else []
        first += width
    return [" & " + " & ".join(over) + r" \\", " ".join(rules)]


def _tex(text: str) -> str:
    return text.translate(TEX)

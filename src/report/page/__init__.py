"""The page: one HTML file with its style, script and data inside, which opens from disk without a network."""

import html
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..grids import Grid, spans, to_csv, to_markdown
from ..latex import to_latex

HERE = Path(__file__).parent
PARTS = {
    "summary": "Summary",
    "curves": "Curves",
    "phases": "Phases",
    "tables": "Tables",
    "runs": "Runs",
    "constructions": "Constructions",
    "statistics": "Statistics",
    "sources": "Method",
}
LONG = 14  # letters: longer column names are wrapped
# The script's files share one scope, in this order.
PROGRAM = ("parts", "charts", "curves", "ends", "phases", "runs", "constructions", "regions", "items", "begin")
LIVE = "live"  # a served page asks for updates; a saved report asks for nothing


def fill_page(title: str, parts: Mapping[str, str], data: str, items: Mapping[str, str], live: int | None = None) -> str:
    """`parts`: HTML by placeholder name; data and items: JSON, as `to_json` writes it.

    `live`: the version of a served page, which asks for updates.
    """
    made = (HERE / "page.html").read_text(encoding="utf-8")
    program = PROGRAM if live is None else (*PROGRAM[:-1], LIVE, PROGRAM[-1])
    holders = "\n".join(
        f'<script type="application/json" id="items:{escape(key)}">{value}</script>' for key, value in items.items()
    )
    filled = dict(parts) | {
        "title": escape(title),
        "nav": nav_html(parts),
        "live": "" if live is None else f' data-live="{live}"',
        "connect": "" if live is None else "; connect-src 'self'",
        "css": (HERE / "page.css").read_text(encoding="utf-8"),
        "js": "".join((HERE / f"{name}.js").read_text(encoding="utf-8") for name in program),
        "data": data,
        "items": holders,
    }
    # In a single pass: inserted text is not scanned again.
    pieces = made.split("{{")
    return pieces[0] + "".join(filled[name] + rest for name, rest in (piece.split("}}", 1) for piece in pieces[1:]))


def nav_html(parts: Mapping[str, str]) -> str:
    """Links to the sections that exist."""
    return "".join(f'<a href="#{name}">{text}</a>' for name, text in PARTS.items() if parts.get(name) != "" or name == "curves")


def to_json(value: object) -> str:
    """`</script>` inside a string must not end the script."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def escape(text: object) -> str:
    return html.escape(str(text))


def element(name: str, content: str, **attributes: object) -> str:
    """`content` is already HTML."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items() if value is not None
    )
    return f"<{name}{given}>{content}</{name}>"


def table_html(grid: Grid) -> str:
    """The table with its title, note and copy buttons."""
    copies = {"Markdown": to_markdown(grid), "CSV": to_csv(grid), "LaTeX": to_latex(grid)}
    buttons = "".join(f'<button data-copy="{escape(grid.name)}-{kind}">{kind}</button>' for kind in copies)
    # Not inside a script element: a name containing `<!--<script>` would keep it from closing.
    hidden = "".join(f'<pre hidden id="{escape(grid.name)}-{kind}">{escape(text)}</pre>' for kind, text in copies.items())
    body = element("div", element("table", _head(grid) + _body(grid), class_="grid"), class_="scroll", tabindex="0")
    note = element("p", escape(grid.note), class_="note")
    copy = f'<div class="copy"><span>copy as</span>{buttons}</div>'
    return element("h3", escape(grid.title)) + body + note + copy + hidden


def _head(grid: Grid) -> str:
    tops = ""
    if any(head.top for head in grid.heads):
        over = "".join(
            f'<th colspan="{width}" scope="colgroup"{_classes(long=len(top) > LONG * width)}>{escape(top)}</th>'
            for top, width in spans(grid.heads)
        )
        tops = f'<tr class="tops"><th></th>{over}</tr>'
    heads = "".join(
        f'<th scope="col"{_classes(published=head.published, long=len(head.name) > LONG)}>{escape(head.name)}</th>'
        for head in grid.heads
    )
    return f'<thead>{tops}<tr><th scope="col">{escape(grid.corner)}</th>{heads}</tr></thead>'


def _classes(**on: bool) -> str:
    names = " ".join(name for name, yes in on.items() if yes)
    return f' class="{names}"' if names else ""


def _body(grid: Grid) -> str:
    rows = []
    for label, cells in grid.rows:
        made = [f'<th scope="row" title="{escape(label)}">{escape(label)}</th>']
        for head, cell in zip(grid.heads, cells, strict=True):
            shaded = cell.shade is not None and not head.published
            classes = _classes(published=head.published, strong=cell.strong or cell.best, under=cell.under, shade=shaded)
            style = f' style="--a:{cell.shade:.3f}"' if shaded else ""
            made.append(f"<td{classes}{style}{_details(cell.numbers)}>{escape(cell.text)}</td>")
        rows.append(f"<tr{_last(label)}>{''.join(made)}</tr>")
    return f"<tbody>{''.join(rows)}</tbody>"


def _last(label: str) -> str:
    return ' class="last"' if label == "mean" else ""


def _details(numbers: Sequence[tuple[str, float]]) -> str:
    """The tooltip: the interval and what it rests on."""
    known = {name: value for name, value in numbers if not math.isnan(value)}
    said = (
        [f"{known['value']:.4f}", f"95\u00a0% {known['low']:.3f}–{known['high']:.3f}"] if "low" in known and "n" in known else []
    )
    said += [f"n {known['n']:,.0f}"] if known.get("n") else []
    return f' title="{", ".join(said)}"' if said else ""

"""Tables in Markdown, and the places between marks in a page that they are written to."""

import re
from collections.abc import Mapping, Sequence


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def fill_page(page: str, tables: Mapping[str, str]) -> str:
    """The page with these tables between `<!-- table: name -->` and `<!-- end -->`."""
    for name, text in tables.items():
        page, found = re.subn(
            rf"(<!-- table: {name} -->\n).*?(\n<!-- end -->)", lambda m, text=text: m[1] + text + m[2], page, flags=re.DOTALL
        )
        assert found == 1, name
    return page

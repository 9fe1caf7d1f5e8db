"""Regions by name in the formulas of a page: `verb@match`, and `*@match` for the whole sentence."""

import difflib
import re
from collections.abc import Iterable

from .formula import RegionReference
from .formula_parser import Notation


def notation_of(regions: list[str], conditions: list[str]) -> Notation:
    """`region@condition`, `*@condition`; the longest matching name wins, so that names may contain a hyphen."""

    def reference(match: re.Match[str]) -> RegionReference:
        region, condition = match[1], match[2]
        if region != "*" and region not in regions:
            raise ValueError(f"no region {region!r}; {nearest(region, regions)}")
        if condition not in conditions:
            raise ValueError(f"no condition {condition!r}; {nearest(condition, conditions)}")
        return RegionReference(None if region == "*" else regions.index(region) + 1, condition)

    any_name = r"[^\W\d][\w.]*(?:-[\w.]+)*"
    pattern = rf"({_one_of(regions)}|\*|{any_name})\s*@\s*({_one_of(conditions)}|{any_name})"
    return Notation(re.compile(pattern), reference, f"{regions[-1]}@{conditions[0]}")


def _one_of(names: list[str]) -> str:
    """The longest matching name. A `-x` after it makes it an unknown name, unless it begins the next reference, `-x@y`."""
    listed = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return rf"(?:{listed})(?![\w.]|-[^\W\d][\w.-]*(?!\s*@|[\w.-]))"


def nearest(name: str, known: Iterable[str]) -> str:
    """The remedy for an unknown name."""
    known = list(known)
    near = difflib.get_close_matches(name, known, 2)
    return f"did you mean {' or '.join(near)}?" if near else f"available: {', '.join(known[:30])}"

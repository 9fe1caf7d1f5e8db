"""Names for readers: of constructions, their parts, and languages."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache

from ..probes.accuracy import MEAN, SEVEN
from ..settings.languages import Language, language_files, read_language
from .results import Result

CONSTRUCTIONS = {
    "simple_agrmt": "simple agreement",
    "vp_coord": "VP coordination",
    "long_vp_coord": "long VP coordination",
    "subj_rel": "across a subject relative",
    "obj_rel_within": "within an object relative",
    "obj_rel_across": "across an object relative",
    "prep": "across a prepositional phrase",
    "sent_comp": "in a sentential complement",
    "obj_rel_no_comp_across": "across an object relative, no that",
    "obj_rel_no_comp_within": "within an object relative, no that",
    "simple_reflexives": "reflexive, simple",
    "reflexive_sent_comp": "reflexive in a sentential complement",
    "reflexives_across": "reflexive across a relative",
    "simple_npi": "negative polarity, simple",
    "npi_across": "negative polarity across a relative",
    MEAN: "mean",
}
# Lines of one family are shown together if there are too many for one figure.
FAMILIES = {
    "agreement": ("simple_agrmt", "vp_coord", "long_vp_coord", "sent_comp", "obj_rel_within", "obj_rel_no_comp_within"),
    "agreement across an attractor": ("subj_rel", "obj_rel_across", "obj_rel_no_comp_across", "prep"),
    "reflexives": ("simple_reflexives", "reflexive_sent_comp", "reflexives_across"),
    "negative polarity": ("simple_npi", "npi_across"),
}
OTHERS = "others"
MOST_LINES = 8  # in one figure
PARTS = {
    "matched": "same number",
    "mismatched": "different numbers",
    "ss": "sg subject, sg attractor",
    "sp": "sg subject, pl attractor",
    "ps": "pl subject, sg attractor",
    "pp": "pl subject, pl attractor",
}


def paper_name(construction: str) -> str:
    """Animate sets are the papers' sets."""
    return construction.removesuffix("_anim")


def construction_name(name: str) -> str:
    """The name used in papers; an unknown name is shown as it is."""
    if name.endswith("_inanim"):
        return f"{construction_name(name.removesuffix('_inanim'))} (inanimate)"
    return CONSTRUCTIONS.get(paper_name(name), name.replace("_", " ") if name.islower() else name)


def families(constructions: Sequence[str], circuits: Mapping[str, str] | None = None) -> dict[str, list[str]]:
    """Constructions by family, in family order; families too large for one figure are split.

    The family of a suite is its circuit, if `circuits` has it.
    """
    known = {name: family for family, names in FAMILIES.items() for name in names}
    own = circuits or {}
    found: dict[str, list[str]] = {family: [] for family in [*FAMILIES, *dict.fromkeys(own.values()), OTHERS]}
    for name in constructions:
        found[own.get(name) or known.get(paper_name(name).removesuffix("_inanim"), OTHERS)].append(name)
    cut: dict[str, list[str]] = {}
    for family, names in found.items():
        parts = [names[start : start + MOST_LINES] for start in range(0, len(names), MOST_LINES)]
        cut |= {f"{family} {i + 1}" if len(parts) > 1 else family: part for i, part in enumerate(parts)}
    return cut


def construction_labels(names: Sequence[str]) -> dict[str, str]:
    """Row labels of a table: constructions that would share a label also show their own name."""
    labels = {name: construction_name(name) for name in names}
    shared = [label for label, count in Counter(labels.values()).items() if count > 1]
    return {name: f"{label} ({name})" if label in shared else label for name, label in labels.items()}


def language_name(code: str) -> str:
    language = _described(code)
    return language.name if language else code


def direction(code: str) -> str:
    """The HTML `dir` value; for a language without a description, the letters decide."""
    language = _described(code)
    return language.direction if language else "auto"


@cache
def _described(code: str) -> Language | None:
    return read_language(code) if code in language_files() else None


def in_paper_order(constructions: Sequence[str]) -> list[str]:
    """The seven CLAMS constructions first and in their order, then the others as given."""
    known = sorted((c for c in constructions if paper_name(c) in SEVEN), key=lambda c: SEVEN.index(paper_name(c)))
    return list(dict.fromkeys([*known, *constructions]))


def axis_of(results: Sequence[Result]) -> str:
    """What their curves are plotted against: words, tokens or steps; if mixed, all of them."""
    return " or ".join(dict.fromkeys(result.axis for result in results if result.moments)) or "words"


def seen(axis: str) -> str:
    """The label of a figure's axis."""
    return axis if axis == "steps" else f"{axis} seen"


def format_words(words: float) -> str:
    """1.4 M, 320 k."""
    if math.isinf(words):
        return "…"
    if words >= 999_500:  # values that three digits round up to a million
        return f"{max(words, 1e6) / 1e6:.3g} M"
    return f"{words / 1e3:.3g} k" if words >= 1e3 else f"{words:.0f}"

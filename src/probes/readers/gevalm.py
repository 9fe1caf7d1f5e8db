"""gevalm (Zaczynska et al. 2020): German, one JSON object per line: a sentence with [MASK] and its two candidate forms.

The target is at [MASK] (`indexMASK` is wrong in hundreds of rows). The numbers come from the file's name, the tested one first
(the field `case` has them swapped in two constructions).
"""

import re
from collections.abc import Iterator
from pathlib import Path

from ..challenge_set import TARGET, ChallengeSet, SetError, Span, Value, Variant
from ..set_file import objects, text_field

SUFFIXES = {".jsonl"}
MASK = "[MASK]"
# How many nouns are between the tested subject and its verb; for the others the files do not say.
BETWEEN = {
    **dict.fromkeys(("SimplSent", "SVinSentCompl", "SVshortVPCoord", "SVinObjRelC", "SVModifier", "SVextendedModifier"), 0),
    **dict.fromkeys(("SVPP", "SVSubjRelC", "SVacrossObjRelC"), 1),
}
REFLEXIVES = ("RA_acc", "RA_case")  # each a case spread over several files: RA_acc_simple, RA_acc_longer, RA_acc_SentCompl
NUMBERS = {"sg": "singular", "pl": "plural"}


def recognises(file: Path, head: str) -> bool:
    return '"text_masked"' in head and '"candidates"' in head


def read(file: Path, language: str) -> Iterator[ChallengeSet]:
    construction, features = _named(file.stem)
    made = ChallengeSet(construction, language, dataset="gevalm", file=str(file))
    for number, item in objects(file):
        masked = text_field(item, "text_masked", file, number).split()
        candidates = item.get("candidates") or []
        if masked.count(MASK) != 1:
            raise SetError(file, number, f"text_masked has {MASK} {masked.count(MASK)} times instead of once")
        if not isinstance(candidates, list) or [isinstance(c, str) and bool(c.split()) for c in candidates] != [True, True]:
            raise SetError(file, number, f"candidates must be two forms; they are {str(candidates)[:60]!r}")
        at = masked.index(MASK)
        variants = []
        for role, form in zip(("good", "bad"), candidates, strict=True):
            words = (*masked[:at], *form.split(), *masked[at + 1 :])
            variants.append(Variant(role, role == "good", words, None, (Span(TARGET, at, at + len(form.split())),)))
        made.add(number, features, variants)
    yield made


def _named(stem: str) -> tuple[str, dict[str, Value]]:
    """`SVPP_sgpl` is the construction SVPP with a singular subject and a plural attractor."""
    for case in REFLEXIVES:
        if stem.startswith(f"{case}_"):
            return case, {"case": case, "sub_case": stem.removeprefix(f"{case}_"), "tested": "reflexive"}
    match = re.fullmatch(r"(.+?)_((?:sg|pl){1,2})", stem)
    if not match:
        return stem, {}
    numbers = [NUMBERS[match[2][i : i + 2]] for i in range(0, len(match[2]), 2)]
    known: dict[str, Value] = {"case": match[1], "sub_case": match[2]}
    known |= dict(zip(("subject_number", "attractor_number"), numbers, strict=False))
    return match[1], known | ({"n_intervening": BETWEEN[match[1]]} if match[1] in BETWEEN else {})

"""The French object–past-participle sets of Li, Wisniewski and Crabbé (2021), `.tab` and `.pred`: a table, one row per form.

The two forms of a sentence are on separate rows; the one that is the other plus a plural s is the plural, and
`correct_number` says which is right. The number that each surface heuristic would choose has its own column.
"""

from collections.abc import Iterator
from pathlib import Path

from ...data.prefix_heuristics import RIGHT, WRONG
from ..challenge_set import TARGET, ChallengeSet, SetError, Span, Value, Variant
from ..contrast import pair_contrast
from ..set_file import rows, whole_number

SUFFIXES = {".tab", ".pred"}
NEEDED = ("form", "correct_number", "sent", "cls_noun_num")
NUMBERS = {"sing": "singular", "plur": "plural"}
# The first noun, the noun before the relative pronoun, the last word with number before the participle, the majority of nouns.
HEURISTICS = {"h1": "fst_noun_num", "h2": "cls_noun_num", "h3": "cls_token_num", "h4": "com_num"}
END = "<eos>"


def recognises(file: Path, head: str) -> bool:
    names = head.splitlines()[0].split("\t") if head.strip() else []
    return set(names) >= set(NEEDED)


def read(file: Path, language: str) -> Iterator[ChallengeSet]:
    made = ChallengeSet(file.stem, language, dataset="li2021", file=str(file))
    made.contrasts = (pair_contrast("target", "good", "bad", TARGET),)
    items: dict[str, list[tuple[int, dict[str, str]]]] = {}
    for number, row in rows(file, *NEEDED):
        items.setdefault(row["sent"], []).append((number, row))
    for sentence, found in items.items():
        number, row = found[0]
        forms = _forms(file, number, found)
        words = [word for word in sentence.split() if word != END]
        places = [at for at, word in enumerate(words) if word in forms]
        if len(places) != 1:
            raise SetError(file, number, f"{' or '.join(forms)} occurs {len(places)} times in the sentence instead of once")
        variants = [_variant(words, places[0], form, good) for form, good in zip(forms, (True, False), strict=True)]
        made.add(number, _features(row), variants)
    yield made


def _forms(file: Path, number: int, found: list[tuple[int, dict[str, str]]]) -> tuple[str, str]:
    """The right and the wrong form."""
    different = sorted({row["form"] for _, row in found}, key=len)
    right = {row["correct_number"] for _, row in found}
    if (
        len(found) != 2
        or len(different) != 2
        or different[1] != different[0] + "s"
        or not right <= set(NUMBERS)
        or len(right) > 1
    ):
        raise SetError(
            file,
            number,
            f"a sentence needs two rows, with the singular and plural of one form and its number; here {different}",
        )
    singular, plural = different
    return (singular, plural) if right == {"sing"} else (plural, singular)


def _variant(words: list[str], at: int, form: str, good: bool) -> Variant:
    return Variant("good" if good else "bad", good, (*words[:at], form, *words[at + 1 :]), None, (Span(TARGET, at, at + 1),))


def _features(row: dict[str, str]) -> dict[str, Value]:
    """`h1` … `h4` are right or wrong; `len_context` is one more than the words between pronoun and participle."""
    found: dict[str, Value] = {"subject_number": NUMBERS[row["correct_number"]]}
    for name, column in HEURISTICS.items():
        if row.get(column) in NUMBERS:
            found[name] = RIGHT if row[column] == row["correct_number"] else WRONG
    if (length := whole_number(row.get("len_context", ""))) is not None and length > 0:
        found["distance"] = length - 1
    if (unknown := whole_number(row.get("n_unk", ""))) is not None:
        found["n_unk"] = unknown
    return found | {name: row[name] for name in ("que_n_num", "inverted_subj") if row.get(name)}

"""Line-aligned files, as Linzen et al. (2016) and Gulordava et al. (2018) were evaluated: x.text, x.eval and x.gold.

`.text` has one sentence per line, closed by `<eos>`; `.eval` the index of the tested word, from 0. For Linzen et al., `.gold` has
that index, the right form, the wrong form and the number of attractors; for Gulordava et al., a row of twelve columns with the
right form in the seventh and the wrong one in the eighth: there the word at the index is neither of them.
"""

from collections.abc import Iterator
from pathlib import Path

from ..challenge_set import TARGET, ChallengeSet, SetError, Span, Value, Variant
from ..contrast import pair_contrast
from ..set_file import lines, whole_number

SUFFIXES = {".text"}
END = "<eos>"
FORMS = {4: (1, 2), 12: (6, 7)}  # by the number of columns in .gold: where the right and the wrong form are


def recognises(file: Path, head: str) -> bool:
    return file.with_suffix(".gold").exists()


def read(file: Path, language: str) -> Iterator[ChallengeSet]:
    made = ChallengeSet(file.stem, language, dataset="aligned", file=str(file))
    made.contrasts = (pair_contrast("target", "good", "bad", TARGET),)
    sentences, gold = list(lines(file)), list(lines(file.with_suffix(".gold")))
    beside = file.with_suffix(".eval")
    places = list(lines(beside)) if beside.exists() else gold
    for other, found in ((".gold", gold), (".eval", places)):
        if len(found) != len(sentences):
            raise SetError(
                file.with_suffix(other),
                None,
                f"{len(found):,} lines, but {file.name} has {len(sentences):,}; they must correspond",
            )
    for (number, text), (_, place), (_, row) in zip(sentences, places, gold, strict=True):
        words, cells = text.split(), row.split("\t") if "\t" in row else row.split()
        words = words[:-1] if words[-1] == END else words
        at = whole_number((place.split("\t")[0]).split()[0])
        if at is None or at >= len(words):
            raise SetError(beside if beside.exists() else file, number, f"{place[:40]!r} is not an index into {len(words)} words")
        if len(cells) not in FORMS:
            raise SetError(
                file.with_suffix(".gold"), number, f"{len(cells)} columns; must be 4 (Linzen et al.) or 12 (Gulordava et al.)"
            )
        forms = [cells[column].strip() for column in FORMS[len(cells)]]
        if not all(forms) or forms[0] == forms[1] or (len(cells) == 4 and words[at] not in forms):
            raise SetError(file.with_suffix(".gold"), number, f"the forms {forms} are not two forms for the word {words[at]!r}")
        made.add(
            number, _features(cells), [_variant(words, at, form, good) for form, good in zip(forms, (True, False), strict=True)]
        )
    yield made


def _variant(words: list[str], at: int, form: str, good: bool) -> Variant:
    return Variant("good" if good else "bad", good, (*words[:at], form, *words[at + 1 :]), None, (Span(TARGET, at, at + 1),))


def _features(cells: list[str]) -> dict[str, Value]:
    count = whole_number(cells[3]) if len(cells) == 4 else None
    return {} if count is None else {"n_attractors": count}

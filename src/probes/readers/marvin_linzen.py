"""Marvin & Linzen (2018): pickled dictionaries from a case to its pairs (or, for polarity items, triples) of sentences.

A pickle can contain instructions to run anything; this reader accepts plain containers and strings and refuses the rest.
"""

import io
import pickle
import reprlib
from collections.abc import Iterator
from pathlib import Path

from ..challenge_set import ChallengeSet, SetError, Value, Variant
from ..contrast import pair_contrast
from ..groupings import ANIMACY
from ..pairs import pair
from ..set_file import encodable
from .clams import target_spans

SUFFIXES = {".pickle", ".pkl"}
NUMBERS = {"sing": "singular", "plur": "plural"}
TENSES = ("past", "future")
NOUNS = ("MS", "ES", "BS")  # the subject of the main, the embedded and the matrix clause
# How many nouns are between the tested subject, named first, and its verb: that of the clause, if any.
BETWEEN: dict[tuple[str, ...], int] = {("MS", "ES"): 1, ("ES", "MS"): 0, ("MS", "BS"): 0}
GRADES = ("good", "intrusive", "ungrammatical")


class _PlainOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> object:
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")

    def persistent_load(self, pid: object) -> object:
        raise pickle.UnpicklingError("it asks for an object outside the file")


def recognises(file: Path, head: str) -> bool:
    return True  # the suffix decides; a pickle has no head to read


def read(file: Path, language: str) -> Iterator[ChallengeSet]:
    cases = _plain(file)
    made = ChallengeSet(file.stem, language, dataset="marvin_linzen", file=str(file), groupings=(ANIMACY,))
    number = 0
    for case, groups in cases.items():
        if not isinstance(case, str) or not encodable(case) or not isinstance(groups, list | tuple):
            raise SetError(file, None, f"a case must be text with a list of sentences; here {reprlib.repr(case)[:80]}")
        for group in groups:
            number += 1
            made.add(number, case_features(case), _variants(group, file, case))
    if not len(made):
        raise SetError(file, None, "contains no sentences")
    if len(set(map(len, (item.variants for item in made)))) > 1:
        raise SetError(file, None, "has both pairs and triples; put them in separate files")
    if len(made[0].variants) == 3:
        made.contrasts = tuple(
            pair_contrast(f"{GRADES[a][0]}>{GRADES[b][0]}", GRADES[a], GRADES[b]) for a, b in ((0, 1), (1, 2), (0, 2))
        )
    yield made


def _plain(file: Path) -> dict[object, object]:
    try:
        cases = _PlainOnly(io.BytesIO(file.read_bytes())).load()
    except pickle.UnpicklingError as error:
        raise SetError(file, None, f"this pickle is refused: {error}; only plain lists, dictionaries and text are read") from None
    except Exception as error:  # a broken pickle raises almost anything
        raise SetError(file, None, f"cannot be read as a pickle ({type(error).__name__}); it is damaged") from None
    if not isinstance(cases, dict):
        raise SetError(file, None, f"must be a dictionary from cases to sentences; this is a {type(cases).__name__}")
    return cases


def _variants(group: object, file: Path, case: str) -> list[Variant]:
    sentences = list(group) if isinstance(group, list | tuple) else []
    if len(sentences) not in (2, 3) or not all(isinstance(s, str) and s.split() and encodable(s) for s in sentences):
        raise SetError(file, None, f"case {case}: must have two or three sentences; this is {reprlib.repr(group)[:80]}")
    words = [tuple(sentence.split()) for sentence in sentences]
    if len(words) == 2:
        return pair(words[0], words[1])
    spans = target_spans(words)
    return [Variant(GRADES[i], i == 0, words[i], None, spans[i]) for i in range(3)]


def case_features(case: str) -> dict[str, Value]:
    """`plur_ES_EV_sing_MS_MV`: what is tested comes first, then what varies around it, in every construction.

    Within an object relative the first number is therefore the embedded subject's (ES). Polarity items have a tense instead.
    """
    parts = case.split("_")
    numbers = [NUMBERS[part] for part in parts if part in NUMBERS]
    found: dict[str, Value] = {"case": case}
    if case in TENSES:
        found["tense"] = case
    nouns = tuple(part for part in parts if part in NOUNS)
    if nouns in BETWEEN or parts[1:] == ["MS", "MV"]:
        found["n_intervening"] = BETWEEN.get(nouns, 0)
    return found | dict(zip(("subject_number", "attractor_number"), numbers, strict=False))

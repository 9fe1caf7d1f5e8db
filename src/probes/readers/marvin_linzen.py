"""Marvin & Linzen (2018): pickled dictionaries from a case to its pairs (or, for polarity items, triples) of sentences.

A pickle can hold instructions to run anything; this reader admits plain containers and strings and refuses the rest.
"""

import io
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..challenge_set import ChallengeSet, Contrast, SetError, Value, Variant
from ..pairs import pair
from .clams import targets

SUFFIXES = {".pickle", ".pkl"}
NUMBERS = {"sing": "singular", "plur": "plural"}
GRADES = ("good", "intrusive", "ungrammatical")


class _PlainOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")

    def persistent_load(self, pid: Any) -> Any:
        raise pickle.UnpicklingError("it asks for an object outside the file")


def recognises(file: Path, head: str) -> bool:
    return True  # the ending decides; a pickle has no head to read


def read(file: Path, language: str) -> Iterator[ChallengeSet]:
    cases = _plain(file)
    made = ChallengeSet(file.stem, language, dataset="marvin_linzen", file=str(file))
    number = 0
    for case, groups in cases.items():
        if not isinstance(case, str) or not isinstance(groups, list | tuple):
            raise SetError(file, None, f"a case must be text with a list of sentences; here {str(case)[:40]!r}")
        for group in groups:
            number += 1
            made.add(number, features(file.stem, case), _variants(group, file, case))
    if len(made) and len(made[0].variants) == 3:
        made.contrasts = tuple(
            Contrast(f"{GRADES[a][0]}>{GRADES[b][0]}", GRADES[a], GRADES[b]) for a, b in ((0, 1), (1, 2), (0, 2))
        )
    yield made


def _plain(file: Path) -> dict[Any, Any]:
    try:
        cases = _PlainOnly(io.BytesIO(file.read_bytes())).load()
    except pickle.UnpicklingError as error:
        raise SetError(file, None, f"this pickle is refused: {error}; only plain lists, dictionaries and text are read") from None
    except Exception as error:  # a broken pickle raises almost anything
        raise SetError(file, None, f"not a pickle that can be read ({type(error).__name__}); it is damaged") from None
    if not isinstance(cases, dict):
        raise SetError(file, None, f"a dictionary from cases to sentences is needed; this is a {type(cases).__name__}")
    return cases


def _variants(group: Any, file: Path, case: str) -> list[Variant]:
    sentences = list(group) if isinstance(group, list | tuple) else []
    if len(sentences) not in (2, 3) or not all(isinstance(s, str) and s.split() for s in sentences):
        raise SetError(file, None, f"case {case}: two or three sentences are needed, these are {str(group)[:80]!r}")
    words = [tuple(sentence.split()) for sentence in sentences]
    if len(words) == 2:
        return pair(words[0], words[1])
    spans = targets(words)
    return [Variant(GRADES[i], i == 0, words[i], None, spans[i]) for i in range(3)]


def features(construction: str, case: str) -> dict[str, Value]:
    """`sing_MS_MV_plur_ES_EV`: main subject, then embedded one. Within an embedded clause the second is the one tested."""
    numbers = [NUMBERS[part] for part in case.split("_") if part in NUMBERS]
    if "within" in construction or "sent_comp" in construction:
        numbers.reverse()
    found: dict[str, Value] = {"case": case}
    return found | dict(zip(("subject_number", "attractor_number"), numbers, strict=False))

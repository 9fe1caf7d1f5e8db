"""Packages that know word forms, used if installed: pymorphy3 (Russian), lemminflect (English)."""

import importlib
from types import ModuleType
from typing import Any

from ...data.trees import Word
from ...errors import UserError

# Universal Dependencies values in the packages' terms.
GRAMMEMES = {"Sing": "sing", "Plur": "plur", "1": "1per", "2": "2per", "3": "3per"}
GENDERS = {"Masc": "masc", "Fem": "femn", "Neut": "neut"}
PENN = {("Pres", "Sing"): "VBZ", ("Pres", "Plur"): "VBP"}


class Pymorphy:
    """pymorphy3, with the OpenCorpora dictionary. It writes ё everywhere; running text does so in some words at most."""

    def __init__(self, package: ModuleType) -> None:
        self.analyse = package.MorphAnalyzer().parse

    def other(self, word: Word, feature: str, value: str, gender: str = "") -> set[str]:
        wanted = {GRAMMEMES[value]} if value in GRAMMEMES else set()
        readings = [each for each in self.analyse(word.form) if each.normal_form == word.lemma.lower() and self._fits(each, word)]
        if not wanted or not readings:
            return set()
        past_singular = value == "Sing" and word.features.get("Tense") == "Past"
        if past_singular and gender not in GENDERS:
            return set()
        more = {GENDERS[gender]} if past_singular else set()
        inflected = (each.inflect(wanted | more) for each in readings)
        found = {each.word for each in inflected if each is not None}
        return found if "ё" in word.form.lower() else {form.replace("ё", "е") for form in found}

    def _fits(self, reading: Any, word: Word) -> bool:
        return str(reading.tag.POS) == {"AUX": "VERB"}.get(word.upos, word.upos)


class Lemminflect:
    """lemminflect: present and past of English verbs."""

    def __init__(self, package: ModuleType) -> None:
        self.inflect = package.getInflection

    def other(self, word: Word, feature: str, value: str, gender: str = "") -> set[str]:
        tag = PENN.get((word.features.get("Tense", ""), value)) if feature == "Number" else None
        if tag is None or word.lemma == "be":  # am, is, are, was, were share tags
            return set()
        return set(self.inflect(word.lemma, tag=tag, inflect_oov=False))


PACKAGES: dict[str, type[Pymorphy | Lemminflect]] = {"pymorphy3": Pymorphy, "lemminflect": Lemminflect}


def load_package(name: str) -> Pymorphy | Lemminflect:
    try:
        return PACKAGES[name](importlib.import_module(name))
    except ImportError:
        raise UserError(f"--lexicon {name}: this package is not installed; pip install 'concord-lm[lexicons]'") from None

"""The Spanish grammars against independent lexicons: Apertium for every form, verbecc once more for the verbs.

Needs `pip install verbecc` (2.0.3; its first call trains a model, 20 seconds, no network) and the Debian packages lttoolbox 3.7.1
and apertium-eng-spa 0.8.1, installed, or unpacked into a folder that APERTIUM_ROOT names.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from concord.data.grammar import Grammar, folder_of, load
from concord.data.grammar.rules import Symbol
from verbecc import LangCodeISO639_1, MoodEs, TenseConjugator, TenseEs

NOUNS = {"N_1", "N_2", "People", "Family", "N", "Landmark", "Clothes"}
ADJECTIVES = {"Adj", "Quality", "Mood"}
DETERMINERS = {"El", "Art", "Quant", "Poss"}
VERBS = {"V_1", "V_2", "Cop", "Vt", "Vlong", "Be", "Vi_1", "Vi_2", "Vi_3", "Vh", "Vo", "Vs", "Modal", "Live", "Wear", "Have"}
VERBS |= {"Go", "Stay", "Va", "Vfollow", "Vkeep", "Vthing", "Long_1", "Long_3", "Long_4"}
MASCULINE = {"N_1", "N_2", "El"}  # lists without a gender attribute
NUMBERS = {"s": "sg", "p": "pl"}

# Comparisons that fail because of a fault or gap in the lexicon: what is compared, and the reason. None at present.
EXPLAINED: dict[str, str] = {}


class Apertium:
    """The Spanish analyser of apertium-eng-spa, queried once for all words."""

    root = Path(os.environ.get("APERTIUM_ROOT", "/"))

    def __init__(self, words: set[str]) -> None:
        text = "\n.\n".join(sorted(words))  # full stops keep it from reading two words as one expression
        command = [self.root / "usr/bin/lt-proc", self.root / "usr/share/apertium/apertium-eng-spa/spa-eng.automorf.bin"]
        libraries = os.environ | {"LD_LIBRARY_PATH": str(self.root / "usr/lib/x86_64-linux-gnu")}
        answer = subprocess.run(command, input=text, capture_output=True, text=True, check=True, env=libraries).stdout
        self.known: dict[str, str] = dict(re.findall(r"\^([^/$]+)/([^*$][^$]*)\$", answer))

    def readings(self, word: str) -> Iterator[tuple[str, set[str]]]:
        """Lemma and tags of each reading; `del` and `al` count as their article. Empty for an unknown word."""
        for reading in self.known.get(word, "").split("/"):
            article = reading.split("+")[-1]
            yield article.split("<")[0], set(re.findall(r"<([^>]+)>", article))

    def lemmas(self, word: str, tags: set[str]) -> set[str]:
        """The lemmas of the readings that have one of the tags."""
        return {lemma for lemma, found in self.readings(word) if tags & found}

    def agrees(self, word: str, citation: str, tags: set[str], *features: set[str]) -> bool:
        """Whether some reading of the word has one of the tags, one of each feature's, and a lemma of the citation form."""
        lemmas, needed = self.lemmas(citation, tags), (tags, *features)
        return any(lemma in lemmas and all(found & wanted for wanted in needed) for lemma, found in self.readings(word))


@cache
def conjugator() -> TenseConjugator:
    """Loaded when first needed, since that takes a while."""
    return TenseConjugator(LangCodeISO639_1.es)


@cache
def third_person(infinitive: str) -> dict[str, str]:
    """The present tense by verbecc, as {"s": "canta", "p": "cantan"}."""
    table = conjugator().conjugate_mood_tense(infinitive, MoodEs.Indicativo, TenseEs.Presente, conjugate_pronouns=False)
    return {cell["n"].value: cell["c"][0] for cell in table.get_data() if cell["p"].value == "3"}


def lexemes(grammar: Grammar, names: set[str], inflected: str) -> Iterator[tuple[Symbol, str, str]]:
    """Every form with its symbol and the first form of its paradigm; attributes in `inflected` tell forms of one word apart."""
    first: dict[tuple[str, frozenset[str]], list[str]] = {}
    for symbol, body in grammar.rules.items():
        phrases = [str(alternative) for alternative in body]
        if symbol.name in names and not any("[" in phrase for phrase in phrases):
            citations = first.setdefault((symbol.name, symbol.attributes - set(inflected)), phrases)
            for phrase, citation in zip(phrases, citations, strict=True):
                yield symbol, phrase.removeprefix("se "), citation.removeprefix("se ")


def comparisons(grammar: Grammar) -> Iterator[tuple[str, bool, str]]:
    """What is compared, whether the lexicon agrees, and which lexicon it is; the same comparison may occur twice."""
    texts = (str(alternative) for body in grammar.rules.values() for alternative in body)
    words = {word for text in texts for word in text.split() if word.isalpha()}
    apertium = Apertium(words)
    nominals = ((NOUNS, {"n"}, "noun", "sp"), (ADJECTIVES, {"adj", "pp"}, "adjective", "spmf"))
    for names, tags, label, inflected in (*nominals, (DETERMINERS, {"det", "num"}, "determiner", "")):
        for symbol, phrase, citation in lexemes(grammar, names, inflected):
            word, lemma = phrase.split()[-1], citation.split()[-1]
            number = next(a for a in symbol.attributes if a in NUMBERS)
            gender = "m" if symbol.name in MASCULINE else next(a for a in symbol.attributes if a in "mf")
            fits = apertium.agrees(word, lemma, tags, {NUMBERS[number], "sp"}, {gender, "mf"})
            yield f"{word} = {lemma} {label} {grammar.label(gender)} {grammar.label(number)}", fits, "Apertium"
    for symbol, phrase, citation in lexemes(grammar, VERBS, "sp"):
        word, lemma = phrase.split()[0], citation.split()[0]
        number = next(a for a in symbol.attributes if a in NUMBERS)
        what = f"{word} = {lemma} third person {grammar.label(number)}"
        yield what, apertium.agrees(word, lemma, {"pri"}, {"p3"}, {NUMBERS[number]}), "Apertium"
        infinitives = {infinitive.removesuffix("se") for infinitive in apertium.lemmas(lemma, {"pri"})}
        yield what, any(third_person(infinitive).get(number) == word for infinitive in infinitives), "verbecc"
    for word in sorted(words):
        yield f"{word} is a word", word in apertium.known, "Apertium"


def forms(folder: Path | None = None) -> Iterator[tuple[str, bool, str]]:
    """What was checked, whether the lexicon agrees, and which lexicon it was or why it is overruled; each comparison once."""
    for what, agreed, lexicon in dict.fromkeys(comparisons(load(folder or folder_of("es"), "corpus"))):
        yield what, agreed, lexicon if agreed or what not in EXPLAINED else f"explained: {EXPLAINED[what]}"

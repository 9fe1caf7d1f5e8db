"""German word forms of grammars/de against two independent lexicons.

Nouns: german-nouns (de.wiktionary), which knows gender, case and number of every form. Verbs and adjectives: simplemma, which
knows the lemma of a form; that a verb form is the third person singular or plural is read off its ending.
"""

from collections.abc import Iterator
from pathlib import Path

import simplemma
from concord.data.grammar import load
from concord.data.grammar.folder import folder_of
from concord.data.grammar.rules import Grammar, Symbol
from german_nouns.lookup import Nouns

Checked = tuple[str, bool, str]

CASES = {"nom": "nominativ", "acc": "akkusativ", "dat": "dativ"}
NUMBERS = {"s": "singular", "p": "plural"}
GENDERS = {"m", "f", "n"}
ENDINGS = {"e": "e", "en": "en", "er": "er", "es": "es"}
# Third person forms that do not follow the rule of `_ending`.
IRREGULAR = {"ist": "sein", "sind": "sein", "weiß": "wissen", "mag": "mögen"}
# Forms that are right although simplemma, which gives one lemma a form and knows no context, says otherwise.
REASONS = {
    "simplemma leaves the form as it is (some are participles too)": "vertraut vermisst gratuliert verzeiht gefällt",
    "also a form of another word (lieb, schick, mein), which simplemma prefers": "lieben schicken meinen",
    "simplemma takes ge- for the participle of hören, horchen; present of gehören, gehorchen": "gehört gehorcht",
    "also a form of a verb (reichen, wildern, billigen, wissen)": "reiche wilder billigen weiß",
    "a participle used as an adjective; simplemma gives the verb": "wütend aufgeregt",
}
EXPLAINED = {word: f"explained: {reason}" for reason, words in REASONS.items() for word in words.split()}


def forms(folder: Path | None = None) -> Iterator[Checked]:
    """What was checked, whether the lexicon agrees, and a note (the explanation of an exception, or what the lexicon has)."""
    grammar = load(folder or folder_of("de"), "corpus")
    nouns = Nouns()
    for symbol, words in _lists(grammar):
        if symbol.name.startswith("N_"):
            yield from _nouns(grammar, symbol, words, nouns)
        elif symbol.name == "Cop" or symbol.name.split("_")[0] in ("V", "VPlong", "Costs"):
            yield from _verbs(grammar, symbol, words)
        elif symbol.name.startswith(("Adj_", "Pred")):
            yield from _adjectives(grammar, symbol, words)


def _lists(grammar: Grammar) -> Iterator[tuple[Symbol, list[str]]]:
    """The nonterminals that stand for words alone, with their words."""
    for symbol, alternatives in grammar.rules.items():
        if all(isinstance(part, str) for alternative in alternatives for part in alternative.parts):
            yield symbol, [str(alternative) for alternative in alternatives]


def _row(grammar: Grammar, symbol: Symbol, lose: set[str], gain: set[str]) -> list[str]:
    """The words of the nonterminal that differs from `symbol` in these attributes: the same lexemes, in the same order."""
    return [str(a) for a in grammar.rules[Symbol(symbol.name, (symbol.attributes - lose) | gain)]]


def _nouns(grammar: Grammar, symbol: Symbol, words: list[str], lexicon: Nouns) -> Iterator[Checked]:
    (case,), (number,), (gender,) = (symbol.attributes & set(values) for values in (CASES, NUMBERS, GENDERS))
    lemmas = _row(grammar, symbol, {case, number}, {"nom", "s"})
    for word, lemma in zip(words, lemmas, strict=True):
        entries = [e for e in lexicon[lemma] if e["lemma"] == lemma and gender in _values(e, "genus")]
        known = {form for e in entries for form in _values(e["flexion"], f"{CASES[case]} {NUMBERS[number]}")}
        what = f"{word} = {lemma} ({gender}) {NUMBERS[number]} {CASES[case]}"
        yield _judged(word, what, word in known, known)


def _values(entry: dict[str, str], key: str) -> set[str]:
    """The values of `key` and of its numbered and starred variants."""
    return {value for name, value in entry.items() if name.rstrip("* 1234") == key}


def _verbs(grammar: Grammar, symbol: Symbol, words: list[str]) -> Iterator[Checked]:
    """A verb is the first word of its phrase; its lemma must be that of its counterpart in the other number."""
    (number,) = symbol.attributes
    plurals = _row(grammar, symbol, {"s"}, {"p"})
    for word, plural in zip((w.split()[0] for w in words), (w.split()[0] for w in plurals), strict=True):
        infinitive = IRREGULAR.get(word, plural)
        lemma = simplemma.lemmatize(word, lang="de")
        agrees = lemma == infinitive and simplemma.is_known(word, lang="de") and _ending(word, number, infinitive)
        yield _judged(word, f"{word} = {infinitive} {NUMBERS[number]}", agrees, {lemma})


def _ending(word: str, number: str, infinitive: str) -> bool:
    """Third person present: the plural is the infinitive; the singular ends in t, and in st only after a stem in s or ß."""
    if word in IRREGULAR:
        return True
    if number == "p":
        return word == infinitive
    stem = infinitive.removesuffix("en")
    return word.endswith("t") and (not word.endswith("st") or stem.endswith(("s", "ß")))


def _adjectives(grammar: Grammar, symbol: Symbol, words: list[str]) -> Iterator[Checked]:
    ending = next(iter(symbol.attributes), "bare")
    lemmas = _row(grammar, symbol, {ending}, {"bare"}) if symbol.attributes else words
    for word, lemma in zip(words, lemmas, strict=True):
        found = simplemma.lemmatize(word, lang="de")
        agrees = found == lemma and simplemma.is_known(word, lang="de") and word.endswith(ENDINGS.get(ending, ""))
        yield _judged(word, f"{word} = {lemma} {ending}", agrees, {found})


def _judged(word: str, what: str, agrees: bool, known: set[str]) -> Checked:
    note = "" if agrees else EXPLAINED.get(word, f"lexicon: {', '.join(sorted(known)) or 'nothing'}")
    return what, agrees, note

"""German word forms of grammars/de against two independent lexicons.

Nouns: german-nouns (de.wiktionary), which has the gender, case and number of every form. Verbs and adjectives: simplemma, which
has the lemma of a form; person, number and tense of a verb form follow from its ending.
"""

from collections.abc import Iterator
from pathlib import Path

import simplemma
from concord.data.grammar import constructions, load
from concord.data.grammar.folder import collections, folder_of
from concord.data.grammar.rules import Grammar, Symbol
from german_nouns.lookup import Nouns

Checked = tuple[str, bool, str]

CASES = {"nom": "nominativ", "acc": "akkusativ", "dat": "dativ"}
NUMBERS = {"s": "singular", "p": "plural"}
GENDERS = {"m", "f", "n"}
PERSONS = {"1", "2", "3"}
ENDINGS = {"e": "e", "en": "en", "er": "er", "es": "es"}
# Third-person forms that do not follow the rule of `_ending`.
IRREGULAR = {"ist": "sein", "sind": "sein", "weiß": "wissen", "mag": "mögen"}
# Forms that are right although simplemma, which gives one lemma per form without context, disagrees.
REASONS = {
    "simplemma returns it unchanged (some are participles)": "vertraut vermisst gratuliert verzeiht gefällt bedankt verliebt",
    "also a form of another word (lieb, schick, mein), which simplemma prefers": "lieben schicken meinen",
    "simplemma takes ge- for the participle of hören, horchen; present of gehören, gehorchen": "gehört gehorcht",
    "also a form of a verb (reichen, wildern, billigen, wissen)": "reiche wilder billigen weiß",
    "a participle used as an adjective; simplemma gives the verb": "wütend aufgeregt",
}
EXPLAINED = {word: f"explained: {reason}" for reason, words in REASONS.items() for word in words.split()}


def forms(folder: Path | None = None) -> Iterator[Checked]:
    """What was checked, whether the lexicon agrees, and a note (the explanation of an exception, or what the lexicon has)."""
    folder, nouns, seen = folder or folder_of("de"), Nouns(), set()
    places = [(folder, "corpus"), *((inside, name) for inside in collections(folder) for name in constructions(inside))]
    for grammar in (load(*place) for place in places):
        for symbol, words in _lists(grammar):
            if symbol not in seen:
                seen.add(symbol)
                yield from _checked(grammar, symbol, words, nouns)


def _checked(grammar: Grammar, symbol: Symbol, words: list[str], nouns: Nouns) -> Iterator[Checked]:
    if symbol.name.startswith("N_"):
        yield from _nouns(grammar, symbol, words, nouns)
    elif symbol.name in ("Shame", "Haste"):
        yield from _genitives(symbol, words, nouns)
    elif symbol.name in ("V_past", "V_past_dat", "V_half"):
        yield from _past(grammar, symbol, words)
    elif symbol.name.startswith("Part"):
        yield from _participles(symbol, words)
    elif symbol.name == "Cop" or symbol.name.split("_")[0] in ("V", "VP", "VPlong", "Costs"):
        yield from _verbs(grammar, symbol, words)
    elif symbol.name.startswith(("Adj_", "Pred")):
        yield from _adjectives(grammar, symbol, words)


def _lists(grammar: Grammar) -> Iterator[tuple[Symbol, list[str]]]:
    """The nonterminals that expand only to words, with their words."""
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
    """A verb is the first word of its phrase; its lemma must match its counterpart's in the other number."""
    (number,) = symbol.attributes & set(NUMBERS)
    (person,) = symbol.attributes & PERSONS or {"3"}
    plurals = _row(grammar, symbol, {"s", "2"}, {"p", "1"} if "2" in symbol.attributes else {"p"})
    for word, plural in zip((w.split()[0] for w in words), (w.split()[0] for w in plurals), strict=True):
        infinitive = IRREGULAR.get(word, plural)
        lemma = simplemma.lemmatize(word, lang="de")
        agrees = lemma == infinitive and simplemma.is_known(word, lang="de") and _ending(word, person + number, infinitive)
        yield _judged(word, f"{word} = {infinitive} {person} {NUMBERS[number]}", agrees, {lemma})


def _ending(word: str, cell: str, infinitive: str) -> bool:
    """Present: the plural is the infinitive; the third singular ends in t, and in st only after a stem in s or ß."""
    stem = infinitive.removesuffix("en")
    if word in IRREGULAR:
        return True
    if cell in ("1p", "3p"):
        return word == infinitive
    if cell in ("1s", "2s"):
        return word == f"{stem}e" if cell == "1s" else word in (f"{stem}st", f"{stem}est")
    return word.endswith("t") and (not word.endswith("st") or stem.endswith(("s", "ß")))


def _past(grammar: Grammar, symbol: Symbol, words: list[str]) -> Iterator[Checked]:
    """The plural is the singular with n, or with en if that does not end in e; both are forms of one verb."""
    rows = zip(words, *(_row(grammar, symbol, {"s", "p"}, {number}) for number in ("s", "p")), strict=True)
    for word, singular, plural in rows:
        lemmas = {simplemma.lemmatize(form, lang="de") for form in (singular, plural)}
        made = singular + ("n" if singular.endswith("e") else "en")
        agrees = len(lemmas) == 1 and word not in lemmas and plural == made and simplemma.is_known(word, lang="de")
        yield _judged(word, f"{word}: past", agrees, lemmas)


def _participles(symbol: Symbol, words: list[str]) -> Iterator[Checked]:
    (ending,) = symbol.attributes
    for word in words:
        lemma = simplemma.lemmatize(word, lang="de")
        yield _judged(word, f"{word}: participle", lemma.endswith("end") and word == lemma + ending, {lemma})


def _genitives(symbol: Symbol, words: list[str], lexicon: Nouns) -> Iterator[Checked]:
    """`des Fehlers`: the article shows the number, and in the singular masculine or neuter."""
    (number,) = symbol.attributes
    for article, word in (words.split() for words in words):
        known = {f for e in lexicon[word] for f in _values(e["flexion"], f"genitiv {NUMBERS[number]}")}
        genders = {g for e in lexicon[word] if word in e["flexion"].values() for g in _values(e, "genus")}
        agrees = word in known and (article == "der" if number == "p" else article == "des" and bool(genders & {"m", "n"}))
        yield _judged(word, f"{article} {word} = genitive {NUMBERS[number]}", agrees, known)


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

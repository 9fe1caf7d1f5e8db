"""The word forms of the Russian grammars against an independent lexicon: OpenCorpora, through pymorphy3.

    pip install pymorphy3 pymorphy3-dicts-ru          (for development only)
    PYTHONPATH=src python benchmarks/lexicons/ru.py

Every word of a paradigm is compared with its case, number, gender, animacy, person and tense; the forms of a row must have
a lemma in common; the words of fixed phrases must be known. pymorphy3 reads е as ё where its dictionary has ё.
The lexicon agrees with all our forms, so there is no list of exceptions.
"""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pymorphy3
from concord.data.grammar import Grammar, constructions, folder_of, load

LEXICON = pymorphy3.MorphAnalyzer(lang="ru")

# What our attributes are called in the lexicon.
NUMBER = {"s": "sing", "p": "plur"}
CASE = {"nom": "nomn", "gen": "gent", "dat": "datv", "acc": "accs", "ins": "ablt"}
GENDER = {"m": "masc", "f": "femn", "tm": "masc", "tf": "femn", "tn": "neut"}

# Which lists hold what. Nouns: what all words of the list share, beyond what their attributes say.
MEN, WOMEN, LIVING, THINGS = {"masc", "anim"}, {"femn", "anim"}, {"anim"}, {"inan"}
NOUNS = {"N_1": MEN, "N_2": MEN, "Man_1": MEN, "Man_2": MEN, "Woman_1": WOMEN, "Woman_2": WOMEN,
         "Child": LIVING, "Animal": LIVING, "Text": THINGS, "Item": THINGS, "Building": THINGS, "Landmark": THINGS}  # fmt: skip
ADJECTIVES = ("Adj", "AdjThing", "AdjText", "Rel")
SHORT_ADJECTIVES = ("A_1", "A_2", "A_3", "A_text", "A_item", "A_build")
VERBS = ("V_1", "V_2", "V_3", "V_4", "V_5", "V_6", "Vt", "Vt_2", "Vmeet", "Vdat", "Vhelp", "Vins", "Vsay", "Vabout", "Vhow",
         "Vlive", "Vmodal", "Vtext", "Vitem", "Vbuild", "Vpet", "Vfood", "Vdrink", "Vplay", "Lies", "Pleases", "Stands",
         "VPlong_1", "VPlong_3", "Pair")  # fmt: skip
KINDS = {"NOUN": (*NOUNS,), "ADJF": ADJECTIVES, "ADJS PRTS": SHORT_ADJECTIVES, "VERB": VERBS}


class Result(NamedTuple):
    """One comparison: what was checked, whether the lexicon agrees, and what it says if it does not."""

    what: str
    agrees: bool
    note: str


def forms() -> Iterator[Result]:
    """Every comparison for the grammars of Russian."""
    yield from check(folder_of("ru"))


def check(folder: Path) -> Iterator[Result]:
    """Every comparison for a folder, each once, whichever files it occurs in."""
    loaded = [load(folder, name) for name in (*constructions(folder), "corpus")]
    yield from dict.fromkeys(result for grammar in loaded for result in _compare(grammar))


def _compare(grammar: Grammar) -> Iterator[Result]:
    rows: defaultdict[tuple[str, str, int], list[str]] = defaultdict(list)
    for symbol, alternatives in grammar.rules.items():
        kind = next((kind for kind, names in KINDS.items() if symbol.name in names), "")
        for index, alternative in enumerate(alternatives):
            words = [part for part in alternative.parts if isinstance(part, str) and part.isalpha()]
            if not kind or not words:
                yield from map(_known, words)
                continue
            # A long verb phrase starts with its verb; a pair is verb и verb.
            heads = words[::2] if symbol.name == "Pair" else words[:1]
            wanted = _wanted(symbol.name, kind, symbol.attributes)
            yield from (_agrees(word, kind, wanted) for word in heads)
            yield from (_known(word) for word in words if word not in heads)
            # Nouns have one list per gender, adjectives one for all.
            gender = "".join(symbol.attributes & GENDER.keys()) if kind == "NOUN" else ""
            rows[symbol.name, gender, index].append(words[0])
    yield from (_one_lemma(row) for (name, _, _), row in rows.items() if name != "Rel")


def _wanted(name: str, kind: str, attributes: frozenset[str]) -> set[str]:
    """What a form must have. Adjectives show gender in the singular only, animacy in the accusative of masculines and plurals."""
    wanted = {table[a] for table in (NUMBER, CASE) for a in attributes & table.keys()} | NOUNS.get(name, set())
    if kind == "VERB":
        return wanted | {"3per", "pres", "indc"}
    genders = attributes & GENDER.keys()
    if kind == "NOUN" or "s" in attributes:
        wanted |= {GENDER[gender] for gender in genders}
    if kind == "ADJF" and "acc" in attributes and ("p" in attributes or "masc" in wanted):
        wanted.add("anim" if genders & {"m", "f"} else "inan")
    return wanted


def _parses(word: str) -> list[pymorphy3.analyzer.Parse]:
    """The readings in the dictionary, without guesses."""
    return [parse for parse in LEXICON.parse(word) if parse.is_known]


def _agrees(word: str, kind: str, wanted: set[str]) -> Result:
    found = _parses(word)
    agrees = any(parse.tag.POS in kind.split() and all(grammeme in parse.tag for grammeme in wanted) for parse in found)
    note = "; ".join(str(parse.tag) for parse in found) or "not in the lexicon"
    return Result(f"{word} = {' '.join((kind, *sorted(wanted)))}", agrees, "" if agrees else note)


def _one_lemma(row: list[str]) -> Result:
    lemmas = set.intersection(*({parse.normal_form for parse in _parses(word)} for word in row))
    return Result(f"{' '.join(dict.fromkeys(row))} = one word", bool(lemmas), "" if lemmas else "no lemma in common")


def _known(word: str) -> Result:
    return Result(f"{word} = a word", bool(_parses(word)), "" if _parses(word) else "not in the lexicon")

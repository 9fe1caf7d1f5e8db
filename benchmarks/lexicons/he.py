"""The word forms of the Hebrew grammars against an independent lexicon: Hspell, by N. Har'El and D. Kenigsberg.

    apt-get install hspell                            (for development only; checked with 1.4)
    PYTHONPATH=src python benchmarks/lexicons/he.py

Every form of a paradigm must be in the lexicon with its part of speech, gender and number (verbs: in the present tense), and
neither in the construct state nor with a suffixed pronoun; the forms of a row must have a lemma in common; the words of
phrases must be known. Hspell spells as the Academy's rules for unvocalised text of 2017 do.
"""

import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from concord.data.grammar import Grammar, constructions, folder_of, load

HSPELL = shutil.which("hspell")
if HSPELL is None:
    raise ImportError("hspell is not installed; apt-get install hspell")

# What our attributes are called in the lexicon, and in words.
NUMBER = {"s": ("יחיד", "singular"), "p": ("רבים", "plural")}
GENDER = {"m": ("ז", "masculine"), "f": ("נ", "feminine")}
# By the first letter of a list's name. Hspell files many adjectives under nouns (מתוק) or verbs in the present (שמח).
KINDS = {"N": ({"ע"}, "noun"), "V": ({"פ"}, "verb"), "A": ({"ת", "ע", "פ"}, "adjective")}
VERB, PRESENT = "פ", "הווה"
# The construct state, a suffixed pronoun, the imperative, and the infinitive: not our forms.
OTHER = re.compile("סמיכות|כינוי|ציווי|מקור")
ANALYSIS = re.compile(r"\t(\S+?)\((.*)\)")

# Where the lexicon is wrong or silent: what was checked, and why we keep our form.
EXPLAINED = {
    f"{row} = forms of one word": "explained: adjectives that Hspell lists as two nouns, one per gender, each with its own lemma"
    for row in ("עשיר עשירים עשירה עשירות", "עני עניים ענייה עניות", "צעיר צעירים צעירה צעירות", "מתוק מתוקים מתוקה מתוקות")
}

# A lemma and its features, and all of them for each word: an empty list for a word with a prefix (בבית), None if unknown.
Analysis = tuple[str, frozenset[str]]
Lexicon = dict[str, list[Analysis] | None]


class Result(NamedTuple):
    """One comparison: what was checked, whether the lexicon agrees, and why if it does not."""

    what: str
    agrees: bool
    note: str


def forms() -> Iterator[tuple[str, bool, str]]:
    """Every comparison for the grammars of Hebrew."""
    yield from check(folder_of("he"))


def check(folder: Path) -> Iterator[Result]:
    """Every comparison for a folder, each once, whichever files it occurs in."""
    grammars = [load(folder, name) for name in (*constructions(folder), "corpus")]
    bodies = (body for grammar in grammars for body in grammar.rules.values())
    lexicon = look_up({part for body in bodies for a in body for part in a.parts if isinstance(part, str) and part.isalpha()})
    seen = {result.what: result for grammar in grammars for result in _compare(grammar, lexicon)}
    yield from seen.values()


def look_up(words: Iterable[str]) -> Lexicon:
    """What Hspell says about each word."""
    found: Lexicon = dict.fromkeys(sorted(words))
    run = subprocess.run([str(HSPELL), "-l"], input="\n".join(found), capture_output=True, check=True, encoding="iso-8859-8")
    entry: list[Analysis] = []
    for line in run.stdout.splitlines():
        head, _, word = line.partition(": ")
        if head == "מילה חוקית":  # a word as it stands
            entry = found[word] = []
        elif head == "צירוף חוקי":  # ב+בית, perhaps as a second reading of a word; its analyses are of בית
            entry, word = [], word.replace("+", "")
            found[word] = found[word] or []
        elif match := ANALYSIS.match(line):
            entry.append((match[1], frozenset(match[2].split(","))))
    return found


def _compare(grammar: Grammar, lexicon: Lexicon) -> Iterator[Result]:
    rows: defaultdict[tuple[str, frozenset[str], int], list[tuple[str, set[str]]]] = defaultdict(list)
    for symbol, alternatives in grammar.rules.items():
        marks = [table[a] for table in (GENDER, NUMBER) for a in symbol.attributes if a in table]
        for index, alternative in enumerate(alternatives):
            words = [part for part in alternative.parts if isinstance(part, str) and part.isalpha()]
            if symbol.name[0] not in KINDS or len(marks) < 2 or not len(words) == len(alternative.parts) == 1:
                yield from (_result(f"{word} = a word", lexicon[word] is not None, "not in the lexicon") for word in words)
                continue
            codes, kind = KINDS[symbol.name[0]]
            lemmas = {lemma for lemma, features in lexicon[words[0]] or () if _fits(features, codes, {code for code, _ in marks})}
            what = f"{words[0]} = {kind} {' '.join(name for _, name in marks)}"
            yield _result(what, bool(lemmas), f"the lexicon has {lexicon[words[0]] or 'nothing'}")
            # Nouns have one list per gender, verbs and adjectives one row for both.
            shared = frozenset(symbol.attributes - NUMBER.keys() - (set() if kind == "noun" else GENDER.keys()))
            rows[symbol.name, shared, index].append((words[0], lemmas))
    for row in rows.values():
        what = f"{' '.join(form for form, _ in row)} = forms of one word"
        yield _result(what, bool(set.intersection(*(lemmas for _, lemmas in row))), "no lemma in common")


def _fits(features: frozenset[str], codes: set[str], marks: set[str]) -> bool:
    plain = not any(OTHER.match(feature) for feature in features) and (VERB not in features or PRESENT in features)
    return plain and marks <= features and bool(codes & features)


def _result(what: str, agrees: bool, note: str) -> Result:
    return Result(what, agrees, "" if agrees else EXPLAINED.get(what, note))

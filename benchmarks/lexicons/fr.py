"""The French grammars against two independent lexicons: hunspell-fr (Dicollecte) for every form, verbecc again for verbs.

Needs `pip install verbecc` (2.0.3; its first call trains its own model: seconds, no network) and
`apt-get install hunspell hunspell-fr` (1.7.1, dictionary 7.0). Run with `PYTHONPATH=src python benchmarks/lexicons/fr.py`.
"""

import logging
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

logging.disable(logging.WARNING)
from concord.data.grammar import Grammar, folder_of, load  # noqa: E402
from concord.data.grammar.rules import Symbol  # noqa: E402
from verbecc import CompleteConjugator  # noqa: E402

NOUNS = {"N", "N_1", "N_2", "N_3"}
ADJECTIVES = {"Pre", "Jeune", "Adj", "Adj_pred", "Adj_epicene"}
VERBS = {"Cop", "V", "V_1", "VP_1", "V_2", "V_3", "VLoc", "VWith", "Vt", "Vt_3", "Vt_a", "Vt_de", "Say", "V_a", "V_th", "V_v"}
VERBS |= {"Chases", "Moves", "Pleases", "Belongs", "Smells", "Costs"}
MASCULINE = {"N_1", "N_2"}  # lists without a gender attribute
AGREEMENT = {"s": {"is:sg", "is:inv"}, "p": {"is:pl", "is:inv"}, "m": {"is:mas", "is:epi"}, "f": {"is:fem", "is:epi"}}
PERSONS = {"s": "po:3sg", "p": "po:3pl"}
VOWELS = set("aàâeéèêiîoôuùûœ")
MUTE = ("homme", "hôtel", "hôpita", "histoire", "horloge")  # neither lexicon distinguishes mute and aspirated h

# Forms on which a lexicon is wrong or silent, with the reason.
EXPLAINED: dict[str, str] = {}

Checked = tuple[str, bool, str]
Reading = tuple[str, frozenset[str]]  # lemma, tags


class Hunspell:
    """Lemmas and tags such as po:nom, is:mas, is:pl; empty for a word that the dictionary lacks. One call for all."""

    def __init__(self, words: Iterable[str]) -> None:
        command = ["hunspell", "-d", "fr", "-i", "utf-8", "-m"]
        answer = subprocess.run(command, input="\n".join(words), capture_output=True, text=True, check=True)
        self.readings: defaultdict[str, list[Reading]] = defaultdict(list)
        for line in answer.stdout.splitlines():
            # The dictionary marks irregular forms with an exclamation mark.
            word, *tags = line.replace("!", "").split() or [""]
            if lemma := next((tag[3:] for tag in tags if tag.startswith("st:")), ""):
                self.readings[word].append((lemma, frozenset(tags)))

    def lemmas(self, word: str, *tags: str | set[str]) -> set[str]:
        """The lemmas of the readings that have all these tags, or at least one of a set."""
        wanted = [{tag} if isinstance(tag, str) else tag for tag in tags]
        return {lemma for lemma, found in self.readings[word] if all(found & one for one in wanted)}


@cache
def conjugated(infinitive: str) -> dict[str, str]:
    """The third persons of the present by verbecc, as {"s": "chante", "p": "chantent"}."""
    present = _conjugator().conjugate(infinitive).get_data()["moods"]["indicatif"]["présent"]
    return {cell["n"]: cell["c"][0].split()[-1] for cell in present if cell["pr"] in ("il", "ils")}


@cache
def _conjugator() -> CompleteConjugator:
    return CompleteConjugator("fr")


def lexemes(grammar: Grammar, names: set[str], inflection: Iterable[str]) -> Iterator[tuple[Symbol, str, str]]:
    """Every form with its symbol and the first form of its paradigm, whose attributes differ in `inflection` only."""
    first: dict[tuple[str, frozenset[str]], list[str]] = {}
    for symbol, body in grammar.rules.items():
        if symbol.name in names and all(isinstance(part, str) for alternative in body for part in alternative.parts):
            words = [str(alternative).removeprefix("se ").split()[0] for alternative in body]
            citations = first.setdefault((symbol.name, symbol.attributes.difference(inflection)), words)
            for word, citation in zip(words, citations, strict=True):
                yield symbol, word, citation


def checks(grammar: Grammar) -> Iterator[Checked]:
    """All comparisons, before the explained exceptions apply; the same comparison may occur twice."""
    words = {w for body in grammar.rules.values() for a in body for p in a.parts if isinstance(p, str) for w in p.split()}
    known = Hunspell(sorted(words))
    for names, part, inflection in ((NOUNS, "po:nom", "s p"), (ADJECTIVES, "po:adj", "s p m f cons vow")):
        for symbol, word, citation in lexemes(grammar, names, inflection.split()):
            values = symbol.attributes | ({"m"} if symbol.name in MASCULINE else set())
            tags = [AGREEMENT[value] for value in sorted(values) if value in AGREEMENT]
            shown = " ".join(grammar.label(value) for value in sorted(values & AGREEMENT.keys()))
            agreed = known.lemmas(word, part, *tags) & known.lemmas(citation, part)
            yield f"{word} = {citation} {part[3:]} {shown}", bool(agreed), "hunspell"
            if names is NOUNS:
                elides = word[0] in VOWELS or word.startswith(MUTE)
                yield f"{word} has le, la or l' by its onset", elides == ("vow" in values), "spelling"
    for symbol, word, citation in lexemes(grammar, VERBS, ("s", "p")):
        number = next(iter(symbol.attributes & PERSONS.keys()))
        what = f"{word} = {citation} third person {grammar.label(number)}"
        found = known.lemmas(word, "po:ipre", PERSONS[number]) & known.lemmas(citation, "po:ipre", "po:3sg")
        yield what, bool(found), "hunspell"
        yield what, any(conjugated(infinitive).get(number) == word for infinitive in found), "verbecc"
    for word in sorted(filter(str.isalpha, words)):
        yield f"{word} is a word", bool(known.readings[word]), "hunspell"


def forms(folder: Path | None = None) -> Iterator[Checked]:
    """What was checked, whether the lexicon agrees, and which lexicon or why it may be overruled; each comparison once."""
    for what, agreed, source in dict.fromkeys(checks(load(folder or folder_of("fr"), "corpus"))):
        reason = EXPLAINED.get(f"{source}: {what}")
        yield what, agreed, source if agreed or reason is None else f"{source}; explained: {reason}"

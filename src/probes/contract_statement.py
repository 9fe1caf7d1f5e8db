"""The scoring contract in words, derived from what the scorer does with a sentence and what the sets have become.

Nothing is stated just because a rule is set: what a set's sentences look like, which of their words are compared and how they
are read is looked up in the sentences, in the contrasts and in the scorer's `Reading`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .challenge_set import ChallengeSet
from .contract import FINAL
from .probe import Probe
from .scorers import Reading, Scorer

NAMED = 3  # sets named individually if they differ from the others

HIDING = {
    "target": "the words that differ are masked, all their pieces, and revealed from left to right; nothing else is scored",
    "piece": "each piece is masked and scored given all others",
    "rest of word": "each piece is scored while it and the rest of its word to the right are masked",
    "word": "each piece is scored while all pieces of its word are masked",
    "rest": "each piece is scored while it and everything to its right, {closing} included, are masked",
    "rest but closing": "each piece is scored while it and everything to its right except {closing} are masked",
}
LEFT_OUT = {
    "multi_piece": "tested words that are not one piece leave the item uncovered",
    "missing": "sentences and tested words without their own score leave the item uncovered",
    "unequal": "tested words that differ in their number of pieces leave the item uncovered",
}
TIES = {
    "half": "a tie is worth ½",
    "correct": "a tie is correct",
    "wrong": "a tie is wrong",
    "random": "a tie is decided by a coin toss (seed {seed}), the same for an item every time",
}
NORMALIZED = {
    "none": "",
    "tokens": "sums are divided by the number of tokens of their sentence",
    "characters": "sums are divided by the number of characters of their sentence",
    "bytes": "sums are divided by the number of bytes of their sentence",
}
DUPLICATES = {"once": "an exact duplicate within a set counts once", "all": "every exact duplicate counts"}
COUNTED = {"contrasts": "accuracy is c/n over contrasts", "items": "an item is correct if all its contrasts hold"}


@dataclass(frozen=True)
class Treatment:
    """What the sentences of a set look like when they are scored, and which of their words are compared."""

    stops: Literal["all", "some", "none"]  # sentences that we close with a full stop
    stop_compared: bool
    first_word: Literal["as it was", "capital", "lower case"]
    cut: bool  # what follows the compared words is not read
    compared: tuple[str, ...]  # "sentence", "differing", the names of spans, or "stated" for what a formula compares
    each_word: bool  # every differing word on its own
    at_once: bool  # more than one comparison must hold
    bits: bool
    untested: bool  # sentences in which no word is marked as tested
    ties: str  # what a tie is worth, in words


def state_contract(probe: Probe, scorer: Scorer) -> dict[str, object]:
    """The contract as saved: the protocol, its rules, and what they amount to."""
    return probe.contract.plain() | {"statement": contract_statement(probe, scorer.reading)}


def contract_statement(probe: Probe, reading: Reading) -> str:
    """The whole contract in words. Anything that does not hold for all sets says for which it does."""
    treated = treatments(probe)
    rules = probe.contract.rules
    said = [_position(reading), _method(reading)]
    by_set: tuple[Callable[[Treatment, Reading], str], ...] = (_closing, _first_word, _deciding, _tie)
    said += [_over_sets(probe, [phrase(each, reading) for each in treated]) for phrase in by_set]
    said += [_unknown(rules.unknown, reading), *(LEFT_OUT[each] for each in reading.left_out)]
    if reading.scores == "target" and any(each.untested for each in treated):
        said.append("a sentence in which nothing is marked as tested leaves the item uncovered")
    said.append("a score that is not a number counts as −∞" if probe.contract.nan_is_lowest else "")
    said.append(NORMALIZED[rules.normalize] if not all(each.fixed_rules for each in probe.sets) else "")
    said.append(_over_sets(probe, [each.words for each in probe.collected]))
    said += [DUPLICATES[rules.duplicates], COUNTED[probe.contract.unit]]
    counted = ", (c+1)/(n+1); intervals are of c/n" if probe.contract.plus_one else ""
    return "; ".join(part for part in said if part) + counted


def join_statements(stated: Mapping[str, str]) -> str:
    """For several models: one statement for all, or each with the models it holds for."""
    different = list(dict.fromkeys(stated.values()))
    if len(different) == 1:
        return different[0]
    names = {said: [name for name, own in stated.items() if own == said] for said in different}
    return " | ".join(f"{', '.join(names[said])}: {said}" for said in different)


def treatments(probe: Probe) -> list[Treatment]:
    """The treatment of each set of a probe."""
    return [_treatment(probe, number, made) for number, made in enumerate(probe.sets)]


def _treatment(probe: Probe, number: int, made: ChallengeSet) -> Treatment:
    contrasts, rules = probe.contrasts, probe.contract.rules_for(made)
    terms, clauses = contrasts.terms, contrasts.clauses
    own = np.flatnonzero(contrasts.set[clauses.contrast[terms.clause]] == number)
    sentences, ends = terms.sentence[own], terms.end[own]
    lengths = {int(i): len(probe.sentences[i].words.split()) for i in np.unique(sentences)}
    last = np.array([lengths[int(i)] for i in sentences])
    whole = (terms.start[own] == 0) & (ends == last)
    asked = [probe.sentences[i] for i in lengths]
    entire = set(made.sentences)
    before = made.originals or made.sentences
    closed = [len(now.split()) > len(was.split()) for now, was in zip(made.sentences, before, strict=True)]
    cut = any(sentence.words not in entire for sentence in asked)
    per_contrast = np.bincount(clauses.contrast, minlength=len(contrasts))[contrasts.of_set(number)]
    return Treatment(
        stops="none" if cut or not any(closed) else "all" if all(closed) else "some",
        stop_compared=bool((ends == last).any()),
        first_word=_first_words(made.sentences, before),
        cut=cut,
        compared=_compared(probe, number, made, bool(whole.all())),
        each_word=rules.contrast == "words",
        at_once=rules.contrast != "words" and bool((per_contrast > 1).any()),
        bits=bool((contrasts.scale[contrasts.of_set(number)] != 1.0).any()),
        untested=any(sentence.target[0] == sentence.target[1] for sentence in asked),
        ties=TIES[rules.ties].format(seed=probe.contract.seed),
    )


def _first_words(now: Sequence[str], before: Sequence[str]) -> Literal["as it was", "capital", "lower case"]:
    changed = {one[0] for one, other in zip(now, before, strict=True) if one[:1] != other[:1]}
    if not changed:
        return "as it was"
    return "capital" if any(letter.isupper() for letter in changed) else "lower case"


def _compared(probe: Probe, number: int, made: ChallengeSet, whole: bool) -> tuple[str, ...]:
    """Whole sentences, the words in which they differ, or what the source names."""
    contrasts, pairs = probe.contrasts, probe.contrasts.pairs
    rows = contrasts.of_set(number)
    if probe.contract.rules_for(made).contrast == "words":
        return ("differing",)
    own = np.flatnonzero(contrasts.set[pairs.rows] == number)
    if len(own) == len(rows):
        terms = contrasts.terms
        first = np.searchsorted(terms.clause, pairs.clauses[own])[:, None] + np.arange(2)
        places = np.stack([terms.start[first], terms.end[first]], axis=-1)
        if whole and not (places == pairs.varied[own]).all():
            return ("sentence",)
        if (places == pairs.varied[own]).all():
            return ("differing",)
    if whole:
        return ("sentence",)
    spans = dict.fromkeys(term.span for contrast in made.contrasts if not contrast.alternative for term in contrast.terms())
    formulas = any(contrast.formula or not contrast.is_pair for contrast in made.contrasts if not contrast.alternative)
    return ("stated",) if formulas else tuple(span or "sentence" for span in spans)


# ---------------------------------------------------------------------- phrases


def _over_sets(probe: Probe, phrases: list[str]) -> str:
    """A phrase that holds for all sets; otherwise each phrase with its sets, those of which none holds at the end."""
    different = sorted(dict.fromkeys(phrases), key=lambda phrase: not phrase)
    if len(different) == 1:
        return different[0]
    found = []
    for phrase in different:
        names = [name for name, own in zip(probe.constructions, phrases, strict=True) if own == phrase]
        shown = ", ".join(names) if len(names) <= NAMED else f"{len(names)} of {len(phrases)} sets"
        found.append(f"{phrase} ({shown})" if phrase else f"not so in {shown}")
    return ", ".join(found)


def describe_reading(reading: Reading) -> str:
    """How a scorer reads any sentence: what stands around it, and what each word is scored given."""
    return "; ".join(filter(None, (_position(reading), _method(reading))))


def _position(reading: Reading) -> str:
    opening, closing = " ".join(reading.opening), " ".join(reading.closing)
    if reading.source:
        return f"scores are those of {reading.source}"
    if reading.state == "warm":
        return f"each sentence after {opening}, with the state left by a few sentences of the corpus"
    if opening and closing:
        return f"each sentence alone, between {opening} and {closing}"
    if opening:
        return f"each sentence alone, after {opening}" + (" with a zero state" if reading.state == "zero" else "")
    given = "; its first piece is given and not scored" if reading.scores == "all but the first piece" else ""
    return "each sentence alone, with nothing before it" + (f" and {closing} after it" if closing else "") + given


def _method(reading: Reading) -> str:
    if reading.sees == "unstated":
        return ""
    closing = " ".join(reading.closing) or "a mark at the end"
    if reading.sees == "everything":
        marks = " and ".join(" ".join(part) for part in (reading.opening, reading.closing) if part)
        included = f", {marks} included," if marks and reading.scores == "words and marks" else ""
        return f"nothing is masked: each piece{included} is scored where the model sees it" + (
            ", and counts by its share of all pieces" if reading.mean else ""
        )
    how = (
        HIDING[reading.hides].format(closing=closing)
        if reading.sees == "unhidden"
        else "each word is scored given the words before it"
    )
    return how + ("; a word is the sum of its pieces" if reading.pieces else "")


def _closing(treated: Treatment, reading: Reading) -> str:
    """How sentences end, and which part of the end is scored."""
    if treated.cut:
        return "read up to the last word that is compared"
    scored = reading.scores != "target" and treated.stop_compared
    if treated.stops == "none":
        end = "closed as in the source"
    else:
        where = " where the source has no final mark" if treated.stops == "some" else ""
        end = f'closed by " {FINAL}"{where}, which is {"scored" if scored else "read but not scored"}'
    marks = " and ".join(" ".join(part) for part in (reading.opening, reading.closing) if part)
    if reading.closing and reading.scores != "words and marks":
        end += f"; {marks} are not scored" if reading.opening else f"; {marks} is not scored"
    elif reading.state:
        end += f"; a final {' '.join(reading.opening)} is not scored"
    elif not reading.closing and reading.sees == "left":
        end += "; nothing after it is scored"
    return end


def _first_word(treated: Treatment, reading: Reading) -> str:
    words = {"as it was": "as in the source", "capital": "with a capital", "lower case": "in lower case"}
    return f"first word {words[treated.first_word]}"


def _deciding(treated: Treatment, reading: Reading) -> str:
    """Which words decide the verdict."""
    left = ", given the words before them" if reading.sees == "left" else ""
    unit = ", in bits of surprisal" if treated.bits else ""
    if treated.each_word:
        return "every word that differs must be preferred" + (", given the words before it" if left else "")
    if "stated" in treated.compared:
        return f"the source's predictions about its regions decide{unit}"
    if reading.scores == "target":
        decides = "the masked words alone decide"
    elif treated.compared == ("sentence",):
        decides = "the whole sentence decides"
    elif treated.compared == ("differing",):
        decides = f"the words that differ decide{left}"
    else:
        decides = f"the words of {', '.join(treated.compared)} decide{left}"
    return decides + (", and must win all comparisons of an item at once" if treated.at_once else "") + unit


def _tie(treated: Treatment, reading: Reading) -> str:
    return treated.ties


def _unknown(rule: str, reading: Reading) -> str:
    if "missing" in reading.left_out:  # the file does not say what its model did with unknown words
        return ""
    elsewhere = f"it is read as {reading.unknown}" if reading.unknown else "the scorer handles it" if reading.source else ""
    match rule:
        case "error":
            return "an unknown word is an error"
        case "unk":
            return (
                f"an unknown word is read as {reading.unknown}"
                if reading.unknown
                else "unknown words are scored as they are read"
            )
    if not elsewhere:
        return "a word without pieces in the tested place leaves the item uncovered"
    return f"an unknown word in the tested place leaves the item uncovered, elsewhere {elsewhere}"

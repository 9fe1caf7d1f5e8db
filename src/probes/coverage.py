"""Coverage: how many items of a set each published rule keeps, and which tested forms a tokenizer splits.

Only the tokenizer is needed, never the model. The rules:
one_word         the variants differ in exactly one word (Goldberg 2019; Mueller et al. 2020 lose a third of French to it)
known            no tested form has an unknown piece
one_piece        one word, which is one known piece, in every variant: what `skip_multi_piece` keeps (their Table 7)
equal_pieces     as many pieces in every variant, what is tested read alone (Zaczynska et al. 2020)
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from .challenge_set import ChallengeSet, differing
from .scorers import ProbeSentence

# Maps sentences to each target's number of pieces, whether all are known, and the number when it stands alone:
# `functools.partial(probes.scorers.pretrained.word_pieces.target_pieces, tokenizer)`.
PieceCounter = Callable[[Sequence[ProbeSentence]], Sequence[tuple[int, bool, int]]]


class RuleCoverage(NamedTuple):
    """One construction: its items, and how many of them each rule keeps."""

    construction: str
    items: int
    one_word: int
    known: int
    one_piece: int
    equal_pieces: int


class FormCoverage(NamedTuple):
    """The tested words of a language, each once, and those that have several pieces or an unknown one."""

    language: str
    forms: list[str]
    multi_piece: list[str]


def rule_coverage(made: ChallengeSet, count: PieceCounter) -> RuleCoverage:
    """How many items each rule keeps."""
    items = list(item_sentences(made))
    counted = iter(count([sentence for item in items for sentence in item]))
    one_word = known = one_piece = equal = 0
    for item in items:
        pieces = [next(counted) for _ in item]
        single = all(end - start == 1 for _, (start, end), *_ in item)
        recognised = all(fine for _, fine, _ in pieces)
        one_word += single
        known += recognised
        one_piece += single and recognised and all(number == 1 for number, *_ in pieces)
        equal += len({alone for *_, alone in pieces}) == 1
    return RuleCoverage(made.construction, len(items), one_word, known, one_piece, equal)


def form_coverage(sets: Sequence[ChallengeSet], count: PieceCounter) -> FormCoverage:
    """The tested words of all sets (if one word is tested), and which are not one known piece (Hilsenbek 2022, Table 1)."""
    found: dict[str, ProbeSentence] = {}
    for made in sets:
        for item in item_sentences(made):
            for sentence in item if all(end - start == 1 for _, (start, end), *_ in item) else ():
                found.setdefault(sentence.words.split(" ")[sentence.target[0]], sentence)
    several = [
        form for form, (number, known, _) in zip(found, count(list(found.values())), strict=True) if number != 1 or not known
    ]
    return FormCoverage(sets[0].language if sets else "", sorted(found), sorted(several))


def item_sentences(made: ChallengeSet) -> Iterator[list[ProbeSentence]]:
    """The sentences of each item; the target is where the first differs from the others."""
    for number in range(len(made)):
        first, *others = range(made.firsts[number], made.firsts[number + 1])
        item: dict[ProbeSentence, None] = {}
        for other in others:
            spans = differing(made.sentences[first].split(), made.sentences[other].split())
            for variant, span in zip((first, other), spans, strict=True):
                item[ProbeSentence(made.sentences[variant], span, made.texts[variant] or "", number)] = None
        yield list(item)

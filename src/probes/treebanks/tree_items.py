"""An item from a tree: its tokens as written, which is the cue and which is tested, and both forms of the latter."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...data.conllu import Words
from ...data.patterns.matching import Match
from ...data.patterns.pattern_file import CUE, TARGET
from ...data.prefix_heuristics import Marked, heuristic_features
from ...data.trees import DependencyTree, Word
from ..challenge_set import TARGET as TARGET_SPAN
from ..challenge_set import Span, Value, Variant
from ..exports import plain_variant

NOUNS = ("NOUN", "PROPN")
NUMBER = "Number"
AUXILIARY = "auxiliary_number"  # the pattern's name for its auxiliary's number
LABELS = {"Sing": "singular", "Plur": "plural"}
LONG = 15  # tokens between cue and target, beyond which distances share a bin


class SurfaceToken(NamedTuple):
    """A token as written. One that stands for several words (*du*) has no analysis of its own."""

    form: str
    word: Word | None
    space_after: bool = True

    @property
    def upos(self) -> str:
        return self.word.upos if self.word is not None else ""

    @property
    def number(self) -> int:
        """The number of its word in the tree; 0 if it stands for several."""
        return self.word.number if self.word is not None else 0

    def feature(self, name: str) -> str:
        return self.word.features.get(name, "") if self.word is not None else ""


@dataclass(frozen=True)
class TreeItem:
    """`at` says which token holds each node of the pattern; `value` is that of the varied feature on cue and target."""

    sentence: str
    tokens: tuple[SurfaceToken, ...]
    at: dict[str, int]
    other: str
    feature: str
    value: str
    tree: DependencyTree = field(repr=False, compare=False)
    given: tuple[tuple[str, Value], ...] = ()

    @property
    def cue(self) -> int:
        return self.at[CUE]

    @property
    def target(self) -> int:
        return self.at[TARGET]

    @property
    def good(self) -> str:
        return self.tokens[self.target].form

    def features(self) -> dict[str, Value]:
        """The features tables use. Attractors are nouns between cue and target whose number differs from the cue's."""
        left, right = sorted((self.cue, self.target))
        between = self.tokens[left + 1 : right]
        distance = len(between)
        found: dict[str, Value] = {"tested": self.feature.lower(), "distance": distance, "distance_bin": distance_bin(distance)}
        found["cue_first"] = "yes" if self.cue < self.target else "no"
        if self.feature == NUMBER:
            numbers = [token.feature(NUMBER) for token in between if token.upos in NOUNS and token.feature(NUMBER)]
            found |= {"subject_number": label(self.value), "n_intervening": len(numbers)}
            found["n_attractors"] = sum(number != self.value for number in numbers)
            if numbers:
                found["attractor_number"] = label(numbers[-1])
            found |= heuristic_features(marked(self.tokens[: self.target]), self.value)
        given = dict(self.given)
        if distance == 2 and AUXILIARY in given:  # only que and the auxiliary: the subject follows
            found["auxiliary_at_2"] = "same number" if given[AUXILIARY] == label(self.value) else "other number"
        return found | given | {"sentence": self.sentence}

    def variants(self) -> list[Variant]:
        return pair_of(self.tokens, self.target, (self.good, self.other), self.cue)

    def between_words(self) -> list[str]:
        """From cue to target, the other form last."""
        left, right = sorted((self.cue, self.target))
        return [*(token.form for token in self.tokens[left : right + 1]), self.other]


def marked(prefix: Sequence[SurfaceToken]) -> list[Marked]:
    return [Marked(token.upos in NOUNS, token.feature(NUMBER)) for token in prefix]


def label(value: str) -> str:
    return LABELS.get(value, value)


def distance_bin(distance: int) -> str:
    """0, 1, 2, 3-4, … 13-14, 15+."""
    if distance < 3:
        return str(distance)
    low = distance - (distance + 1) % 2
    return f"{low}-{low + 1}" if distance < LONG else f"{LONG}+"


def pair_of(tokens: Sequence[SurfaceToken], target: int, forms: tuple[str, str], cue: int | None) -> list[Variant]:
    """The sentence with each form. A token written with a space in it (*10 000*) is several words."""
    variants = []
    for role, form in zip(("good", "bad"), forms, strict=True):
        written = [token if i != target else token._replace(form=form) for i, token in enumerate(tokens)]
        spans, words = [], list[str]()
        for i, token in enumerate(written):
            parts = token.form.split()
            if i in (target, cue):
                spans.append(Span(TARGET_SPAN if i == target else CUE, len(words), len(words) + len(parts)))
            words += parts
        text = "".join(token.form + " " * token.space_after for token in written).strip()
        variants.append(
            Variant(role, role == "good", tuple(words), text, tuple(sorted(spans, key=lambda s: s.name != TARGET_SPAN)))
        )
    return variants


def plain_item(uid: str, features: dict[str, Value], variants: Sequence[Variant]) -> dict[str, object]:
    """An item as our own JSON lines write it."""
    return {"uid": uid, "features": features, "variants": [plain_variant(each) for each in variants]}


def tokens_of(match: Match, words: Words) -> tuple[tuple[SurfaceToken, ...], dict[int, int]]:
    """The tokens of a sentence, and which of them holds each word of the tree."""
    written = match.tree.written() if words == "surface" else match.tree.analysed()
    places = {number: i for i, token in enumerate(written) for number in range(token.first, token.last + 1)}
    tokens = tuple(
        SurfaceToken(token.form, match.tree[token.first] if token.first == token.last else None, token.space_after)
        for token in written
    )
    return tokens, places

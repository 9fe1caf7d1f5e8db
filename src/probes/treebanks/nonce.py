"""Words that can replace others in a nonsense sentence: same part of speech, same features, same kind of onset."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from random import Random
from typing import NamedTuple

from ...data.patterns.pattern_file import Pattern
from ...data.trees import DependencyTree, Word
from .tree_items import SurfaceToken, TreeItem
from .word_forms import Forms, other_form

NO_WORD = "no other word like one of its words"


class Kind(NamedTuple):
    """What a word and its substitute share."""

    upos: str
    feats: str
    vowel: bool
    capital: bool


class Substitutes:
    """Forms by kind, for words with a single part of speech in the whole treebank."""

    def __init__(self, pattern: Pattern, vocabulary: Collection[str] | None) -> None:
        self.pattern = pattern
        self.vocabulary = vocabulary
        self.words: defaultdict[Kind, dict[str, Word]] = defaultdict(dict)
        self.parts: defaultdict[str, set[str]] = defaultdict(set)
        self.governors: set[tuple[str, str]] = set()  # lemma and UPOS of words seen with the relations a target needs
        self._sorted: dict[Kind, list[Word]] = {}

    def harvest(self, trees: Iterable[DependencyTree]) -> Iterator[DependencyTree]:
        """Pass the trees on. Sentence-initial words are left out: their capital means nothing."""
        for tree in trees:
            for word in tree.words:
                self.parts[word.form.lower()].add(word.upos)
                if word.upos in self.pattern.content and word.number > 1:
                    self.words[self.kind(word)].setdefault(word.form, word)
                if word.head and word.relation in self.pattern.seen_with:
                    self.governors.add((tree[word.head].lemma, tree[word.head].upos))
            yield tree

    def kind(self, word: Word) -> Kind:
        return Kind(word.upos, word.feats, word.form[:1].lower() in self.pattern.vowels, word.form[:1].isupper())

    def like(self, word: Word, lower: bool) -> list[Word]:
        """What can replace a word, in a fixed order; `lower`: its capital is only that of a first word."""
        kind = self.kind(word)
        if lower and word.upos != "PROPN":
            kind = kind._replace(capital=False)
        if kind not in self._sorted:
            usable = (each for form, each in sorted(self.words.get(kind, {}).items()) if self._usable(form))
            self._sorted[kind] = list(usable)
        return [each for each in self._sorted[kind] if each.lemma != word.lemma]

    def _usable(self, form: str) -> bool:
        return len(self.parts[form.lower()]) == 1 and form.isalpha() and (self.vocabulary is None or form in self.vocabulary)


def nonce_item(item: TreeItem, substitutes: Substitutes, sources: list[Forms], rng: Random) -> tuple[TreeItem | None, str]:
    """Every content word replaced, the target by a word whose two forms are both known; or None and the reason."""
    tokens = list(item.tokens)
    other = item.other
    for i, token in enumerate(item.tokens):
        if token.word is None or (token.upos not in substitutes.pattern.content and i != item.target):
            continue
        if i == item.target and token.upos not in substitutes.pattern.content:
            continue  # an auxiliary: the verb below it is replaced
        choices = substitutes.like(token.word, lower=i == 0)
        if i == item.target:
            pairs = [(word, form) for word in choices if (form := _both_forms(item, word, substitutes, sources))]
            if not pairs:
                return None, NO_WORD
            word, other = rng.choice(pairs)
        elif choices:
            word = rng.choice(choices)
        else:
            return None, NO_WORD
        form = word.form[:1].upper() + word.form[1:] if i == 0 and token.form[:1].isupper() else word.form
        tokens[i] = SurfaceToken(form, word, token.space_after)
    return replace(item, tokens=tuple(tokens), other=other), ""


def _both_forms(item: TreeItem, word: Word, substitutes: Substitutes, sources: list[Forms]) -> str:
    """The other form of a possible replacement of the target."""
    if substitutes.pattern.seen_with and (word.lemma, word.upos) not in substitutes.governors:
        return ""
    value = substitutes.pattern.values[item.value]
    form, reason = other_form(word, item.feature, value, sources)
    known = substitutes.vocabulary is None or form in substitutes.vocabulary
    same = (form[:1].lower() in substitutes.pattern.vowels) == (word.form[:1].lower() in substitutes.pattern.vowels)
    return form if not reason and known and same else ""

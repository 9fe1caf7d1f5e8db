"""Items from treebanks by a pattern. What each rule and filter removes is counted: the funnel.

The files are read twice, for word forms and for items; memory grows with the vocabulary, not with the text.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from ...data.conllu import Words
from ...data.patterns.matching import Match, Matcher
from ...data.patterns.pattern_file import CUE, TARGET, Pattern
from ...data.trees import DependencyTree, TreeError, read_trees
from ...errors import UserError
from .tree_items import TreeItem, label, tokens_of
from .word_forms import AMBIGUOUS, EQUAL, NONE, CheckedForms, Endings, Forms, Paradigms, other_form

MERGED = "target inside a multiword token"
NO_VALUE = "a value that the pattern does not exchange"
OUTSIDE = "a word from cue to target, or the other form, is outside the vocabulary"
ONSET = "the forms begin in a vowel and in a consonant"
CAPITALS = "capitals inside the target"
REPEATED = "repeats another item from cue to target"


@dataclass(frozen=True)
class Filters:
    """Requirements on items besides the pattern; all but the first as in Li, Wisniewski and Crabbé (2021)."""

    words: Words = "surface"
    vocabulary: Collection[str] | None = None
    same_onset: bool = False


@dataclass
class Funnel:
    """Candidates, and how many each rule removed, in the order applied."""

    rules: list[str]
    candidates: int = 0
    removed: Counter[str] = field(default_factory=Counter)

    @property
    def items(self) -> int:
        return self.candidates - sum(self.removed.values())

    def steps(self) -> Iterator[tuple[str, int, int]]:
        """Each rule with what it removed and what is left; filters that were not requested removed nothing."""
        left = self.candidates
        for rule in self.rules:
            left -= self.removed[rule]
            yield rule, self.removed[rule], left


class Extraction:
    """One pattern over some files. Iterating yields the items; `funnel` is complete at the end."""

    def __init__(
        self, pattern: Pattern, files: Sequence[Path], lexicons: Sequence[Forms] = (), filters: Filters | None = None
    ) -> None:
        if not pattern.is_tested:
            raise UserError(f"{pattern.file}: this pattern varies nothing; add vary: to make items with it")
        self.pattern = pattern
        self.matcher = Matcher(pattern)
        self.files = files
        self.filters = filters or Filters()
        self.sentences = 0
        self.parser: str | None = None
        self.paradigms = Paradigms(pattern.not_forms)
        for _ in self.paradigms.harvest(map(self.matcher.annotated, self.trees())):
            self.sentences += 1
        rules = Endings(pattern.endings)
        shown = CheckedForms(self.paradigms, rules) if self.parser else self.paradigms  # parsers give verbs wrong lemmas
        self.sources: list[Forms] = [shown, *lexicons, rules]
        self.funnel = self._new_funnel()

    def _new_funnel(self) -> Funnel:
        made = [MERGED, NO_VALUE, NONE, AMBIGUOUS, EQUAL, CAPITALS]
        asked = [OUTSIDE] * (self.filters.vocabulary is not None) + [ONSET] * self.filters.same_onset
        return Funnel([*self.matcher.rules, *made, *asked, REPEATED])

    def trees(self) -> Iterator[DependencyTree]:
        """The trees of all files, each a valid tree and all from one source: gold, or one parser."""
        for tree in chain.from_iterable(map(read_trees, self.files)):
            if self.parser is None:
                self.parser = tree.comment("parser")
            elif (named := tree.comment("parser")) and named != self.parser:
                raise TreeError(
                    tree.file,
                    tree.line,
                    f"parsed by {named}, but others by {self.parser or 'hand'}; make a separate set of each",
                )
            yield tree.require_heads()

    def __iter__(self) -> Iterator[TreeItem]:
        self.funnel = self._new_funnel()
        seen: set[bytes] = set()
        for tree in self.trees():
            for match, failed in self.matcher.candidates(tree):
                self.funnel.candidates += 1
                item, reason = self._item(match) if match is not None else (None, failed)
                if item is not None and not reason:
                    reason = self._filtered(item, seen)
                if item is None or reason:
                    self.funnel.removed[reason] += 1
                else:
                    yield item

    def _item(self, match: Match) -> tuple[TreeItem | None, str]:
        pattern, target, cue = self.pattern, match.word(TARGET), match.word(CUE)
        tokens, places = tokens_of(match, self.filters.words)
        if tokens[places[target.number]].word is None:
            return None, MERGED
        value = target.features.get(pattern.vary, "")
        if value not in pattern.values:
            return None, NO_VALUE
        if target.form not in (target.form.lower(), target.form.upper(), target.form.capitalize()):
            return None, CAPITALS
        other, reason = other_form(target, pattern.vary, pattern.values[value], self.sources, cue.features.get("Gender", ""))
        if reason:
            return None, reason
        if other.lower() in self.paradigms.same(target):  # the other form could be this one too
            return None, AMBIGUOUS
        given = tuple((name, label(match.word(node).features.get(feature, "none"))) for name, node, feature in pattern.features)
        at = {node: places[number] for node, number in match.at.items()}
        return TreeItem(match.tree.name, tokens, at, other, pattern.vary, value, match.tree, given), ""

    def _filtered(self, item: TreeItem, seen: set[bytes]) -> str:
        words = item.between_words()
        vocabulary = self.filters.vocabulary
        if vocabulary is not None and any(part not in vocabulary for word in words for part in word.split()):
            return OUTSIDE
        if self.filters.same_onset and len({is_vowel(form, self.pattern.vowels) for form in (item.good, item.other)}) > 1:
            return ONSET
        key = hashlib.blake2b(" ".join(words).lower().encode(), digest_size=16).digest()
        if key in seen:
            return REPEATED
        seen.add(key)
        return ""


def is_vowel(form: str, vowels: str) -> bool:
    return form[:1].lower() in vowels


def set_name(pattern: Pattern, parser: str) -> str:
    """The set's name: sets from parses carry the parser's name, `obj_participle_fr_core_news_sm`."""
    if not parser:
        return pattern.name
    tidy = "".join(letter if letter.isalnum() else "_" for letter in parser.partition(":")[2] or parser)
    return f"{pattern.name}_{tidy}"

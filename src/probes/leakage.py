"""What a model has seen of the challenge sets in training: whole sentences, critical n-grams, and counts of the tested forms.

A challenge sentence occurs if a sentence of the training split has the same words, whatever its closing mark and whether or
not its first letter is a capital. A critical n-gram is the target with the two preceding words; the start of a sentence counts
as a word. Words outside the model's vocabulary cannot be found in ids: what contains one is counted as outside the vocabulary.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from ..data.corpus import Corpus, Split
from ..data.vocabulary import EOS, Tokenizer
from .challenge_set import TARGET, ChallengeSet

MARKS = ("", ".", "!", "?")
BEFORE = 2  # words before the target
SENTENCES = 1 << 14  # tokens of the corpus searched at a time


@dataclass(frozen=True)
class Leak:
    """Words of a set that occur in the training split: whether they come from good or bad variants, and how often."""

    construction: str
    words: str
    grammatical: bool | None
    count: int


@dataclass(frozen=True)
class Leakage:
    sentences: list[Leak]
    ngrams: list[Leak]
    checked: dict[str, int]  # how many distinct ones were searched for
    unsearchable: dict[str, int]  # how many of them contain an out-of-vocabulary word

    def line(self) -> str:
        """For the table at the start of a run."""
        parts = []
        for kind, found in (("sentences", self.sentences), ("n-grams", self.ngrams)):
            unsearchable = f" ({self.unsearchable[kind]:,} with unknown words)" if self.unsearchable[kind] else ""
            parts.append(f"{len(found):,} of {self.checked[kind]:,} challenge {kind}{unsearchable}")
        return f"{', '.join(parts)} occur in the training text"

    def save(self, file: Path) -> None:
        """Write everything, one row each."""
        with file.open("w", encoding="utf-8") as stream:
            stream.write("kind\tconstruction\tgrammatical\tcount\twords\n")
            for kind, found in (("sentence", self.sentences), ("n-gram", self.ngrams)):
                for leak in found:
                    shown = "" if leak.grammatical is None else str(leak.grammatical).lower()
                    stream.write(f"{kind}\t{leak.construction}\t{shown}\t{leak.count}\t{leak.words}\n")


def find_leakage(sets: Iterable[ChallengeSet], corpus: Corpus) -> Leakage:
    """One pass over the training split for all sets, sentences and n-grams together."""
    wanted: dict[str, dict[tuple[str, str, bool | None], None]] = {"sentences": {}, "n-grams": {}}
    for made in sets:
        for sentence, grammatical, spans in zip(made.sentences, made.grammatical, made.spans, strict=True):
            words = _open(sentence.split())
            wanted["sentences"][made.construction, " ".join(words), grammatical] = None
            for span in spans:
                if span.name.startswith(TARGET) and span.end > span.start:
                    wanted["n-grams"][made.construction, _ngram(words, span.start, span.end), grammatical] = None
    names = {kind: dict.fromkeys(words for _, words, _ in keys) for kind, keys in wanted.items()}
    searches = {kind: _Search(own, corpus.vocabulary, whole=kind == "sentences", capitals=True) for kind, own in names.items()}
    counts = _searched(searches, corpus.train, corpus.vocabulary)
    return Leakage(
        _leaks(wanted["sentences"], counts["sentences"]),
        _leaks(wanted["n-grams"], counts["n-grams"]),
        checked={kind: len(own) for kind, own in names.items()},
        unsearchable={kind: len(search.unsearchable) for kind, search in searches.items()},
    )


def frequencies(sets: Iterable[ChallengeSet], corpus: Corpus) -> dict[str, int]:
    """How often each tested form occurs in the training split; out-of-vocabulary forms are missing from the result."""
    forms: dict[str, None] = {}
    for made in sets:
        for sentence, spans in zip(made.sentences, made.spans, strict=True):
            for span in spans:
                if span.name.startswith(TARGET) and span.end > span.start:
                    forms[" ".join(sentence.split()[span.start : span.end])] = None
    return count_forms(forms, corpus)


def count_forms(forms: Iterable[str], corpus: Corpus) -> dict[str, int]:
    """How often each of these word sequences occurs in the training split, if all its words are in the vocabulary."""
    wanted = dict.fromkeys(forms)
    search = _Search(wanted, corpus.vocabulary, whole=False)
    counts = _searched({"forms": search}, corpus.train, corpus.vocabulary)["forms"]
    return {form: counts.get(form, 0) for form in wanted if form not in search.unsearchable}


def _leaks(wanted: Iterable[tuple[str, str, bool | None]], counts: dict[str, int]) -> list[Leak]:
    return [
        Leak(construction, words, grammatical, counts[words]) for construction, words, grammatical in wanted if words in counts
    ]


def _open(words: list[str]) -> list[str]:
    """Without the closing mark of a sentence."""
    return words[:-1] if len(words) > 1 and words[-1] in MARKS else words


def _ngram(words: Sequence[str], start: int, end: int) -> str:
    return " ".join([EOS, *words][max(0, start + 1 - BEFORE) : end + 1])


class _KnownWords(dict[str, tuple[int, ...]]):
    """The tokens of words, each looked up once; none for a word that cannot be told from others."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__({EOS: (tokenizer.eos,)})
        self.tokenizer = tokenizer

    def __missing__(self, word: str) -> tuple[int, ...]:
        self[word] = tuple(self.tokenizer.encode_word(word)) if word in self.tokenizer else ()
        return self[word]


class _Search:
    """Token sequences to search for, by length; each stands for the words it spells.

    `whole`: as sentences, with or without a closing mark. `capitals`: also with a capitalised first word.
    """

    def __init__(self, names: Iterable[str], tokenizer: Tokenizer, whole: bool, capitals: bool = False) -> None:
        self.whole = whole
        known = _KnownWords(tokenizer)
        self.marks = [np.array(known[mark]) for mark in MARKS if mark and known[mark]]
        self.unsearchable: set[str] = set()
        by_length: defaultdict[int, dict[tuple[int, ...], list[str]]] = defaultdict(dict)
        for name in names:
            words = name.split()
            tokens = [known[word] for word in words]
            if not all(tokens):
                self.unsearchable.add(name)
                continue
            ways = [tuple(chain.from_iterable(tokens))]
            first = 1 if words[0] == EOS else 0
            capital = known[words[first][:1].upper() + words[first][1:]] if capitals else ()
            if capital and capital != tokens[first]:
                ways.append(tuple(chain.from_iterable([*tokens[:first], capital, *tokens[first + 1 :]])))
            for way in ways:
                by_length[len(way)].setdefault(way, []).append(name)
        self.groups = [_Group(length, found, len(tokenizer)) for length, found in sorted(by_length.items())]

    def look(self, ids: np.ndarray, starts: np.ndarray, lengths: np.ndarray, ends: np.ndarray) -> None:
        """Search sentences at these positions, each preceded by <eos>; `ends`: whether a word may end at each token."""
        without_mark = lengths - self._closing(ids, starts, lengths) if self.whole else lengths
        for group in self.groups:
            if self.whole:
                places = starts[(lengths == group.length) | (without_mark == group.length)]
            else:
                places = np.flatnonzero(group.last[ids] & ends) - group.length + 1
                places = places[places >= 0]
            group.look(ids, places)

    def _closing(self, ids: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """How many tokens of each sentence are its closing mark."""
        found = np.zeros(len(lengths), dtype=np.int64)
        for mark in self.marks:
            long = np.flatnonzero(lengths > len(mark))
            tails = (starts + lengths)[long, None] + np.arange(-len(mark), 0)
            found[long[(ids[tails] == mark).all(axis=1)]] = len(mark)
        return found

    def counts(self) -> dict[str, int]:
        """Counts of everything found."""
        total: Counter[str] = Counter()
        for group in self.groups:
            for at in np.flatnonzero(group.counts).tolist():
                total.update(dict.fromkeys(group.names[at], int(group.counts[at])))
        return dict(total)


class _Group:
    """Sequences of one length, sorted by a number computed from their tokens."""

    def __init__(self, length: int, names: dict[tuple[int, ...], list[str]], vocabulary: int) -> None:
        self.length = length
        random = np.random.RandomState(0)
        self.value = random.randint(0, 1 << 62, vocabulary, dtype=np.int64).astype(np.uint64)
        self.place = random.randint(0, 1 << 62, length, dtype=np.int64).astype(np.uint64) | np.uint64(1)
        tokens = np.array(list(names), dtype=np.int64).reshape(-1, length)
        keys = self._keys(tokens)
        order = np.argsort(keys, kind="stable")
        self.keys, self.tokens = keys[order], tokens[order]
        listed = list(names.values())
        self.names = [listed[at] for at in order.tolist()]
        self.counts = np.zeros(len(order), dtype=np.int64)
        self.last = np.zeros(vocabulary, dtype=bool)
        self.last[tokens[:, -1]] = True

    def _keys(self, tokens: np.ndarray) -> np.ndarray:
        keys: np.ndarray = (self.value[tokens] * self.place).sum(axis=1, dtype=np.uint64)
        return keys

    def look(self, ids: np.ndarray, places: np.ndarray) -> None:
        """Count the sequences that start at these positions."""
        tokens = ids[places[:, None] + np.arange(self.length)]
        at = np.minimum(np.searchsorted(self.keys, self._keys(tokens)), len(self.keys) - 1)
        same = (self.tokens[at] == tokens).all(axis=1)  # the key finds candidates, the tokens decide
        self.counts += np.bincount(at[same], minlength=len(self.counts))


def _searched(searches: dict[str, _Search], split: Split, tokenizer: Tokenizer) -> dict[str, dict[str, int]]:
    begins = tokenizer.begins()
    begin = np.ones(len(tokenizer), dtype=bool) if begins is None else np.array(begins)
    begin[tokenizer.eos] = True
    for first in range(0, len(split), SENTENCES):
        offsets = split.offsets[first : first + SENTENCES + 1]
        ids = np.concatenate([[tokenizer.eos], np.asarray(split.ids[offsets[0] : offsets[-1]])]).astype(np.int64)
        starts = offsets[:-1] - offsets[0] + 1
        ends = np.append(begin[ids[1:]], True)
        for search in searches.values():
            search.look(ids, starts, np.diff(offsets) - 1, ends)
    return {kind: search.counts() for kind, search in searches.items()}

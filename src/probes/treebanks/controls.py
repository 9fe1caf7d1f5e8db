"""Sister sets that share the items' names: permuted, nonce, mirror. Each ensures that one cue is gone, or new."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from random import Random
from typing import Literal, NamedTuple

from ...data.patterns.pattern_file import Pattern
from ...data.prefix_heuristics import N_HEURISTICS, NAMES
from ...data.trees import DependencyTree
from ..challenge_set import Value, Variant
from .mirror import CannotMirror, Mirrors
from .nonce import Substitutes, nonce_item
from .tree_items import TreeItem, pair_of
from .word_forms import Forms

Kind = Literal["permuted", "nonce", "mirror"]
KINDS: tuple[Kind, ...] = ("permuted", "nonce", "mirror")
NONCES = 3  # nonsense sentences per item
# What a nonce item keeps of the original: how hard it is for a heuristic.
GROUP = (*NAMES, N_HEURISTICS)


class Control(NamedTuple):
    """A changed item under the original's name; further ones of the same item have a number appended."""

    kind: Kind
    uid: str
    features: dict[str, Value]
    variants: list[Variant]
    item: TreeItem


class Controls:
    """Makes the controls of items, one item at a time; `failed` counts those that could not be made, by kind and reason."""

    def __init__(
        self, pattern: Pattern, sources: Sequence[Forms], vocabulary: Collection[str] | None, kinds: Sequence[Kind]
    ) -> None:
        self.kinds = kinds
        self.sources = list(sources)
        self.substitutes = Substitutes(pattern, vocabulary)
        self.mirrors = Mirrors(pattern, sources[:-1])
        self.made: Counter[str] = Counter()
        self.failed: Counter[tuple[str, str]] = Counter()

    def harvest(self, trees: Iterable[DependencyTree]) -> Iterator[DependencyTree]:
        return self.substitutes.harvest(trees) if "nonce" in self.kinds else iter(trees)

    def of(self, item: TreeItem, uid: str) -> Iterator[Control]:
        for control in self._of(item, uid):
            self.made[control.kind] += 1
            yield control

    def _of(self, item: TreeItem, uid: str) -> Iterator[Control]:
        features = item.features()
        if "permuted" in self.kinds:
            yield Control("permuted", uid, features, permuted(item, uid), item)
        if "nonce" in self.kinds:
            yield from self._nonces(item, uid, features)
        if "mirror" in self.kinds:
            try:
                mirrored = self.mirrors.mirror(item)
            except CannotMirror as reason:
                self.failed["mirror", str(reason)] += 1
            else:
                yield Control("mirror", uid, mirrored.features(), mirrored.variants(), mirrored)

    def _nonces(self, item: TreeItem, uid: str, features: dict[str, Value]) -> Iterator[Control]:
        group = {name: features[name] for name in GROUP if name in features}
        for number in range(1, NONCES + 1):
            made, reason = nonce_item(item, self.substitutes, self.sources, Random(f"nonce {uid} {number}"))
            if made is None:
                self.failed["nonce", reason] += 1
                return
            name = uid if number == 1 else f"{uid}~{number}"
            yield Control("nonce", name, made.features() | group, made.variants(), made)


def permuted(item: TreeItem, uid: str) -> list[Variant]:
    """The words before the target in random order, then the target; nothing after it."""
    prefix = list(item.tokens[: item.target])
    Random(f"permuted {uid}").shuffle(prefix)
    target = item.tokens[item.target]
    variants = pair_of([*prefix, target], len(prefix), (item.good, item.other), None)
    return [Variant(each.role, each.grammatical, each.words, None, each.spans) for each in variants]


def original_uid(uid: str) -> str:
    """The name of the item a control was made from."""
    return uid.partition("~")[0]

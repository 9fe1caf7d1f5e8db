"""From rules to an acyclic graph: recursion cut at its limits, withheld constructions left out, every word reachable."""

from collections.abc import Collection
from dataclasses import dataclass

from .notation import Alternative, SymbolReference
from .notices import GrammarError, SourceLine
from .rules import START, Grammar, Symbol

DEEPEST = 100
MOST_NODES = 200_000


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A nonterminal at one depth. Adjacent words are one string."""

    symbol: Symbol
    branches: tuple["Branch", ...]

    @property
    def lexical(self) -> bool:
        """Whether it stands for words alone."""
        return all(isinstance(part, str) for branch in self.branches for part in branch.parts)


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    parts: tuple["str | Node", ...]
    weight: float
    tags: tuple[str, ...]
    place: SourceLine
    given: tuple[tuple[str, str], ...]

    @property
    def words(self) -> str:
        """The words of a branch that has only words."""
        return " ".join(part for part in self.parts if isinstance(part, str))


def unroll(grammar: Grammar, withhold: Collection[str] = ()) -> Node:
    """The graph below S[], without the alternatives that carry a withheld tag."""
    unknown = [tag for tag in withhold if tag not in grammar.tags()]
    if unknown:
        raise GrammarError(
            grammar.file,
            f"cannot withhold {', '.join(unknown)}: no rule has this tag; tags here: {', '.join(grammar.tags()) or 'none'}",
        )
    root = _Unroller(grammar, frozenset(withhold)).node(START, SourceLine(grammar.file, 1))
    if root is None:
        cause = f"after withholding {', '.join(withhold)}" if withhold else "within the recursion limits"
        raise GrammarError(grammar.file, f"S[] has no sentence left {cause}; give it an alternative that ends")
    return root


def parents_first(root: Node) -> list[Node]:
    """Every node once, none before a node that refers to it."""
    order: list[Node] = []
    seen: set[int] = set()
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, left = stack.pop()
        if left:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((part, False) for branch in node.branches for part in branch.parts if not isinstance(part, str))
    return order[::-1]


class _Unroller:
    def __init__(self, grammar: Grammar, withhold: frozenset[str]) -> None:
        self.grammar = grammar
        self.withhold = withhold
        self.nested: dict[str, int] = dict.fromkeys(grammar.limits, -1)
        self.path: dict[tuple[Symbol, tuple[int, ...]], SourceLine] = {}
        self.known: dict[tuple[Symbol, tuple[int, ...]], Node | None] = {}

    def node(self, symbol: Symbol, place: SourceLine) -> Node | None:
        """The node of a symbol at the current nesting, or None if the limits leave it nothing."""
        if symbol not in self.grammar.rules:
            raise self.grammar.undefined(symbol, place)
        limited = symbol.name in self.nested
        if limited:
            if self.nested[symbol.name] >= self.grammar.limits[symbol.name]:
                return None
            self.nested[symbol.name] += 1
        key = (symbol, tuple(self.nested.values()))
        if key not in self.known:
            self._enter(key, place)
            branches = [self._branch(alternative) for alternative in self.grammar.rules[symbol]]
            kept = tuple(branch for branch in branches if branch is not None)
            self.known[key] = Node(symbol, kept) if kept else None
            del self.path[key]
        if limited:
            self.nested[symbol.name] -= 1
        return self.known[key]

    def _enter(self, key: tuple[Symbol, tuple[int, ...]], place: SourceLine) -> None:
        if key in self.path:
            names = [self.grammar.spell(symbol) for symbol, _ in [*self.path, key]]
            loop = names[names.index(names[-1]) :]
            raise GrammarError(
                place, f"unbounded recursion: {' → '.join(loop)}; limit its depth, for instance limit {key[0].name}: 1"
            )
        if len(self.path) >= DEEPEST:
            raise GrammarError(place, f"rules are nested more than {DEEPEST} deep; write flatter rules or lower the limits")
        if len(self.known) >= MOST_NODES:
            raise GrammarError(place, f"the recursion limits give more than {MOST_NODES:,} nodes; lower them")
        self.path[key] = place

    def _branch(self, alternative: Alternative) -> Branch | None:
        if self.withhold.intersection(alternative.tags):
            return None
        parts: list[str | Node] = []
        words: list[str] = []
        for part in alternative.parts:
            if isinstance(part, str):
                words.append(part)
                continue
            node = self._child(part, alternative.place)
            if node is None:
                return None
            if words:
                parts.append(" ".join(words))
                words = []
            parts.append(node)
        if words:
            parts.append(" ".join(words))
        return Branch(tuple(parts), alternative.weight, alternative.tags, alternative.place, alternative.given)

    def _child(self, reference: SymbolReference, place: SourceLine) -> Node | None:
        return self.node(Symbol(reference.name, frozenset(reference.attributes)), place)

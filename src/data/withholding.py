"""Sentences kept out of training because of their trees: those in which a pattern or a relation is found."""

import re
from collections.abc import Sequence

from ..errors import UserError
from .patterns import Matcher, PatternError, find_pattern, pattern_names
from .trees import DependencyTree

# Universal Dependencies, version 2; languages add subtypes (acl:relcl).
RELATIONS = frozenset(
    {
        *("nsubj", "obj", "iobj", "csubj", "ccomp", "xcomp", "obl", "vocative", "expl", "dislocated", "advcl", "advmod"),
        *("discourse", "aux", "cop", "mark", "nmod", "appos", "nummod", "acl", "amod", "det", "clf", "case", "conj", "cc"),
        *("fixed", "flat", "compound", "list", "parataxis", "orphan", "goeswith", "reparandum", "punct", "root", "dep"),
    }
)
RELATION = re.compile(r"([a-z]+)(:[a-z]+)*\*?")


class Withholding:
    """What keeps a sentence out: `acl:relcl` (a relation), `obj*` (it and its subtypes), `fr/obj_participle` (a pattern)."""

    def __init__(self, names: Sequence[str], language: str, control: bool = False) -> None:
        self.names = tuple(names)
        self.control = control  # these sentences stay, and as many others go: another corpus, hence another key
        self.relations: list[str] = []
        self.matchers: dict[str, Matcher] = {}
        for name in names:
            relation = RELATION.fullmatch(name)
            if relation and relation[1] in RELATIONS:
                self.relations.append(name)
                continue
            try:
                self.matchers[name] = Matcher(find_pattern(name, language))
            except PatternError as error:
                if name in str(error).split(":")[0] and name.endswith(".yaml"):
                    raise
                raise UserError(
                    f"data.withhold=[{name}]: neither a relation (acl:relcl, obj …) nor a pattern; patterns: "
                    f"{', '.join(pattern_names())}"
                ) from None

    def __call__(self, tree: DependencyTree) -> list[str]:
        """Which of the names are found in a tree; all of them, so that counts do not depend on their order."""
        there = [name for name in self.relations if any(_is(word.relation, name) for word in tree.words)]
        if self.matchers:
            tree.require_heads()
        return there + [name for name, matcher in self.matchers.items() if next(matcher.matches(tree), None) is not None]

    def key(self) -> str:
        """Patterns by content, since a file can change under its name."""
        return f"control {self.control} " * self.control + str(
            [*self.relations, *(repr(matcher.pattern) for matcher in self.matchers.values())]
        )


def _is(relation: str, wanted: str) -> bool:
    return relation == wanted or (wanted.endswith("*") and (relation == wanted[:-1] or relation.startswith(f"{wanted[:-1]}:")))

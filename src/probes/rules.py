"""Rules that decide how the sentences of a set look when they are scored, the same for every source."""

from dataclasses import dataclass
from typing import Literal

from .challenge_set import ChallengeSet

FINAL = "."


@dataclass(frozen=True)
class Rules:
    """`final` closes every sentence with a full stop of its own; `duplicates` once counts an exact repetition once."""

    capitalize: bool = False
    final: bool = True
    duplicates: Literal["once", "all"] = "once"

    def label(self) -> str:
        """What differs from the default, for tables: `+capitalize`."""
        changed = {"+capitalize": self.capitalize, "-final": not self.final, "+duplicates": self.duplicates == "all"}
        return "".join(name for name, differs in changed.items() if differs)


def applied(made: ChallengeSet, rules: Rules) -> tuple[ChallengeSet, int]:
    """The set as the rules have it, and how many exact repetitions were left out."""
    kept = _distinct(made) if rules.duplicates == "once" else list(range(len(made)))
    ruled = made.subset(kept)
    ruled.sentences = [_looked(sentence, rules) for sentence in ruled.sentences]
    ruled.texts = [text if text is None else _looked(text, rules, raw=True) for text in ruled.texts]
    return ruled, len(made) - len(kept)


def _distinct(made: ChallengeSet) -> list[int]:
    seen: dict[tuple[str, ...], int] = {}
    for index in range(len(made)):
        seen.setdefault(tuple(made.sentences[made.firsts[index] : made.firsts[index + 1]]), index)
    return list(seen.values())


def _looked(sentence: str, rules: Rules, raw: bool = False) -> str:
    """Spans count words from the left, so that neither a capital nor a final stop moves them."""
    if rules.capitalize:
        sentence = sentence[:1].upper() + sentence[1:]
    if rules.final and not raw and not sentence.endswith((".", "!", "?")):
        sentence = f"{sentence} {FINAL}"
    return sentence

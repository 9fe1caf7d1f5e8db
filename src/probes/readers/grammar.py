"""Grammar files: our own and the published AVG folders."""

from collections.abc import Iterator
from pathlib import Path

from ...data.grammar import Expansion, Grammar, load
from ...data.grammar.expand import check_size
from ...data.grammar.folder import SUFFIX
from ...settings.languages import Clitics
from ..challenge_set import TARGET, ChallengeSet, Span
from ..contrast import pair_contrast

SUFFIXES = {".avg"}
# Three variants of decreasing acceptability, as in the polarity sets of Marvin and Linzen (2018).
GRADED = ("grammatical", "intrusive", "ungrammatical")


def recognises(file: Path, head: str) -> bool:
    return any(line.startswith("S") for line in head.splitlines())


def read(file: Path, language: str, clitics: Clitics = "split") -> Iterator[ChallengeSet]:
    yield expand_grammar(file.parent, file.stem, language, clitics)


def expand_grammar(folder: Path, name: str, language: str, clitics: Clitics = "split") -> ChallengeSet:
    """One construction of a grammar folder."""
    return write_out(load(folder, name), str(folder / f"{name}{SUFFIX}"), language, clitics)


def write_out(grammar: Grammar, file: str, language: str, clitics: Clitics) -> ChallengeSet:
    """All sentences of a grammar as a set, with the features and spans the grammar provides."""
    expansion = check_size(Expansion(grammar, clitics))
    expansion.must_vary()
    made = ChallengeSet(grammar.name, language, dataset="grammar", file=file)
    spans: dict[tuple[tuple[int, int], ...], tuple[Span, ...]] = {}
    for group in expansion:
        roles = _roles([sentence.change for sentence in group.sentences])
        made.lines.append(group.number + 1)
        made.features.append(group.features)
        for role, sentence in zip(roles, group.sentences, strict=True):
            if sentence.spans not in spans:
                names = [TARGET] if len(sentence.spans) == 1 else [f"{TARGET}:{i}" for i in range(len(sentence.spans))]
                spans[sentence.spans] = tuple(Span(n, *span) for n, span in zip(names, sentence.spans, strict=True))
            made.roles.append(role)
            made.grammatical.append(sentence.grammatical)
            made.sentences.append(sentence.text)
            made.texts.append(None)
            made.spans.append(spans[sentence.spans])
        made.firsts.append(len(made.roles))
    if set(GRADED[1:]) <= set(made.roles):
        made.contrasts = (
            pair_contrast("g>i", "good", "intrusive"),
            pair_contrast("i>u", "intrusive", "ungrammatical"),
            pair_contrast("g>u", "good", "ungrammatical"),
        )
    return made


def _roles(changes: list[str]) -> list[str]:
    """Good and bad; several bad ones are named after what was changed (plural, and plural2 for a second place)."""
    if len(changes) == 2:
        return ["good", "bad"]
    roles = [change or "good" for change in changes]
    if len(set(roles)) == len(roles):
        return roles
    return [role if not (before := roles[:at].count(role)) else f"{role}{before + 1}" for at, role in enumerate(roles)]

"""Sets as CLAMS publishes them: `True<tab>sentence`, then its `False<tab>sentence` lines.

The format has no features, but the published files are written template by template, in blocks of equal size, so that the
numbers of subject and attractor follow from the line (Mueller et al. 2020; the blocks were checked against their grammars).
"""

from collections.abc import Iterator
from pathlib import Path

from ..challenge_set import TARGET, ChallengeSet, SetError, Span, Value, Variant, differing, numbered_roles
from ..files import lines

SUFFIXES = {".txt", ".xz", ".gz"}
Blocks = list[tuple[str, ...]]
PAIRS: Blocks = [("plural", "plural"), ("plural", "singular"), ("singular", "plural"), ("singular", "singular")]
# Numbers of the first and the second noun in each block of the file, and the blocks' sizes relative to each other.
COORDINATION: Blocks = [("singular",), ("plural",)]
FRENCH_PREP: Blocks = [(first, second) for first in ("plural", "singular") for second in ("plural", "singular") * 2]
BLOCKS: dict[tuple[str, str], Blocks] = {
    **{(lang, name): PAIRS for lang in ("fr", "de", "ru") for name in ("subj_rel", "obj_rel_within_anim", "obj_rel_across_anim")},
    **{("he", name): PAIRS[::-1] for name in ("subj_rel", "obj_rel_within_anim", "obj_rel_across_anim")},
    **{(lang, name): COORDINATION for lang in ("fr", "de", "ru", "he") for name in ("vp_coord", "long_vp_coord")},
    ("fr", "simple_agrmt"): [("plural",), ("singular",)] * 2,
    ("fr", "prep_anim"): FRENCH_PREP,
}
SIZES: dict[tuple[str, str], list[int]] = {("fr", "prep_anim"): [1400, 1400, 2100, 2100] * 2}


def recognises(file: Path, head: str) -> bool:
    if file.suffix == ".txt":
        return head.startswith(("True\t", "False\t", "\ufeffTrue\t"))
    return file.name.endswith((".txt.xz", ".txt.gz"))


def read(file: Path, language: str) -> Iterator[ChallengeSet]:
    construction = file.name.split(".")[0]
    made = ChallengeSet(construction, language, dataset="clams", file=str(file))
    group: list[tuple[bool, str]] = []
    start = 1
    for number, line in lines(file):
        label, tab, sentence = line.partition("\t")
        if label not in ("True", "False") or not tab or not sentence.split():
            raise SetError(file, number, f"a line is True or False, a tab and a sentence; this is {line[:60]!r}")
        if label == "True":
            _close(made, start, group)
            group, start = [], number
        elif not group:
            raise SetError(file, number, "a False line without the True line that it belongs to")
        group.append((label == "True", sentence))
    _close(made, start, group)
    _recover_features(made)
    yield made


def _close(made: ChallengeSet, line: int, group: list[tuple[bool, str]]) -> None:
    if not group:
        return
    flags, words = [flag for flag, _ in group], [tuple(sentence.split()) for _, sentence in group]
    spans = targets(words)
    roles = numbered_roles(flags)
    made.add(line, {}, [Variant(*each) for each in zip(roles, flags, words, [None] * len(words), spans, strict=True)])


def targets(words: list[tuple[str, ...]]) -> list[tuple[Span, ...]]:
    """The stretch in which the sentences of a group differ from the first."""
    if len(words) < 2:
        return [()] * len(words)
    pairs = [differing(words[0], other) for other in words[1:]]
    start = min(one[0] for one, _ in pairs)
    tail = min(len(words[0]) - one[1] for one, _ in pairs)
    return [(Span(TARGET, start, max(len(each) - tail, start)),) for each in words]


def _recover_features(made: ChallengeSet) -> None:
    """Where the file is one of the published ones: has the published number of equal blocks."""
    key = (made.language, made.construction)
    blocks = BLOCKS.get(key)
    if not blocks or len(made) % len(blocks):
        return
    sizes = SIZES.get(key, [len(made) // len(blocks)] * len(blocks))
    if sum(sizes) != len(made):
        return
    made.features = [features(made.construction, block) for block, size in zip(blocks, sizes, strict=True) for _ in range(size)]


def features(construction: str, numbers: tuple[str, ...]) -> dict[str, Value]:
    """Within an object relative the tested verb agrees with the second noun, elsewhere with the first."""
    if len(numbers) == 1:
        return {"subject_number": numbers[0]}
    first, second = numbers[::-1] if "within" in construction else numbers
    return {"subject_number": first, "attractor_number": second}

"""Sets as CLAMS publishes them: `True<tab>sentence`, then its `False<tab>sentence` lines.

The format has no features, but the published files are written template by template, in blocks, so that the numbers of subject
and attractor follow from the line (Mueller et al. 2020; the order is that of the templates in their grammars); in English they
follow from the words. A file whose length differs from the published one, or in which the same good form is both singular and
plural, gets no features.
"""

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..challenge_set import TARGET, ChallengeSet, SetError, Span, Value, Variant, differing, numbered_roles
from ..groupings import ANIMACY
from ..set_file import lines

SUFFIXES = {".txt", ".xz", ".gz"}
Blocks = list[tuple[tuple[str, ...], int]]
PAIRS = [("plural", "plural"), ("plural", "singular"), ("singular", "plural"), ("singular", "singular")]
# English has no blocks to go by, but words that show their number: the nouns, and the form of the verb.
SECOND = ("obj_rel_within", "obj_rel_no_comp_within", "sent_comp")  # the tested verb agrees with the second, last noun
NO_NUMBER = ("npi", "reflexive")  # what is tested is not a verb
AUXILIARIES = {("is", "are"): "singular", ("are", "is"): "plural", ("was", "were"): "singular", ("were", "was"): "plural"}
AUXILIARIES |= {("has", "have"): "singular", ("have", "has"): "plural"}
RELATIVES = ("subj_rel", "obj_rel_within_anim", "obj_rel_across_anim")
# For each published file, the numbers of the first and second noun, block by block, and the pairs per block.
BLOCKS: dict[tuple[str, str], Blocks] = {
    **{(lang, name): [(pair, 2800) for pair in PAIRS] for lang in ("fr", "de", "ru") for name in RELATIVES},
    **{("he", name): [(pair, 2800) for pair in PAIRS[::-1]] for name in RELATIVES},
    ("ru", "subj_rel"): [(pair, 2520) for pair in PAIRS],
    **{(lang, "vp_coord"): [(("singular",), 490), (("plural",), 490)] for lang in ("fr", "de", "ru", "he")},
    **{(lang, "long_vp_coord"): [(("singular",), 250), (("plural",), 250)] for lang in ("fr", "de", "ru", "he")},
    ("de", "simple_agrmt"): [(("plural",), 70), (("singular",), 70)],
    ("he", "simple_agrmt"): [(("singular",), 70), (("plural",), 70)],
    **{(lang, "simple_agrmt"): [(("plural",), 70), (("singular",), 70)] * 2 for lang in ("fr", "ru")},
    ("de", "prep_anim"): [(pair, 3150) for pair in PAIRS],
    ("he", "prep_anim"): [(pair, 1400) for pair in PAIRS[::-1]],
    ("ru", "prep_anim"): [(pair, 1470) for pair in PAIRS],
    ("fr", "prep_anim"): [(pair, size) for half in (PAIRS[:2], PAIRS[2:]) for size in (1400, 2100) for pair in half],
}


def recognises(file: Path, head: str) -> bool:
    if file.suffix == ".txt":
        return head.startswith(("True\t", "False\t", "\ufeffTrue\t"))
    return file.name.endswith((".txt.xz", ".txt.gz"))


def read(file: Path, language: str) -> Iterator[ChallengeSet]:
    construction = file.name.split(".")[0]
    made = ChallengeSet(construction, language, dataset="clams", file=str(file), groupings=(ANIMACY,))
    group: list[tuple[bool, str]] = []
    start = 1
    for number, line in lines(file):
        label, tab, sentence = line.partition("\t")
        if label not in ("True", "False") or not tab or not sentence.split():
            raise SetError(file, number, f"a line must be True or False, a tab and a sentence; this is {line[:60]!r}")
        if label == "True":
            _close(made, start, group)
            group, start = [], number
        elif not group:
            raise SetError(file, number, "a False line without its True line")
        group.append((label == "True", sentence))
    _close(made, start, group)
    _recover_features(made)
    yield made


def _close(made: ChallengeSet, line: int, group: list[tuple[bool, str]]) -> None:
    if not group:
        return
    flags, words = [flag for flag, _ in group], [tuple(sentence.split()) for _, sentence in group]
    spans = target_spans(words)
    roles = numbered_roles(flags)
    made.add(line, {}, [Variant(*each) for each in zip(roles, flags, words, [None] * len(words), spans, strict=True)])


def target_spans(words: list[tuple[str, ...]]) -> list[tuple[Span, ...]]:
    """The stretch in which each sentence of a group differs from the first."""
    if len(words) < 2:
        return [()] * len(words)
    pairs = [differing(words[0], other) for other in words[1:]]
    start = min(one[0] for one, _ in pairs)
    tail = min(len(words[0]) - one[1] for one, _ in pairs)
    return [(Span(TARGET, start, max(len(each) - tail, start)),) for each in words]


def _recover_features(made: ChallengeSet) -> None:
    """If the file is one of the published ones."""
    if made.language == "en":
        _recover_english(made)
        return
    blocks = BLOCKS.get((made.language, made.construction), [])
    if not blocks or sum(size for _, size in blocks) != len(made):
        return
    known = [number_features(made.construction, numbers) for numbers, _ in blocks]
    found: list[Mapping[str, Value]] = [each for each, (_, size) in zip(known, blocks, strict=True) for _ in range(size)]
    if _agree(made, found):
        made.features = found


def _recover_english(made: ChallengeSet) -> None:
    """If every item's words tell the numbers, and verb and subject agree in all of them; otherwise no item gets features."""
    if any(part in made.construction for part in NO_NUMBER):
        return
    second = made.construction.startswith(SECOND)
    found: list[Mapping[str, Value]] = []
    for index in range(len(made)):
        first, last = made.firsts[index], made.firsts[index + 1]
        words = made.sentences[first].split()
        nouns = [_noun_number(after) for word, after in itertools.pairwise(words) if word == "the"]
        spans = [made.spans[i][0] if made.spans[i] else Span(TARGET, 0, 0) for i in (first, last - 1)]
        forms = [
            made.sentences[i].split()[s.start] if s.end > s.start else "" for i, s in zip((first, last - 1), spans, strict=True)
        ]
        verb = _verb_number(forms[0], forms[1])
        if verb is None or last - first != 2 or len(nouns) < 1 + second or nouns[int(second)] != verb:
            return
        if second:
            found.append({"subject_number": nouns[1], "attractor_number": nouns[0], "n_intervening": 0})
        else:
            before = sum(word == "the" for word in words[: spans[0].start]) - 1  # nouns between subject and verb
            attractor: dict[str, Value] = {"attractor_number": nouns[1]} if before == 1 else {}
            between: dict[str, Value] = {} if "long" in made.construction else {"n_intervening": before}
            found.append({"subject_number": nouns[0], **attractor, **between})
    made.features = found


def _noun_number(noun: str) -> str:
    return "plural" if noun.endswith("s") else "singular"


def _verb_number(good: str, bad: str) -> str | None:
    """The number of a form paired with another, as in laughs/laugh and is/are; None if it is not such a pair."""
    if (good, bad) in AUXILIARIES:
        return AUXILIARIES[good, bad]
    return "singular" if good == f"{bad}s" else "plural" if bad == f"{good}s" else None


def _agree(made: ChallengeSet, found: list[Mapping[str, Value]]) -> bool:
    """Whether every good form goes with only one number, as it must if the blocks are those of the published file."""
    numbers: dict[str, Value] = {}
    for first, each in zip(made.firsts, found, strict=False):
        words = made.sentences[first].split()
        form = " ".join(word for _, start, end in made.spans[first] for word in words[start:end])
        if numbers.setdefault(form, each["subject_number"]) != each["subject_number"]:
            return False
    return True


def number_features(construction: str, numbers: tuple[str, ...]) -> dict[str, Value]:
    """Within an object relative the tested verb agrees with the second noun, which precedes it; elsewhere with the first.

    Between subject and verb there is the second noun or none; in long coordinations, objects of the first verb, of either number.
    """
    within = construction == "obj_rel_within_anim"
    if len(numbers) == 1:
        between: dict[str, Value] = {} if construction == "long_vp_coord" else {"n_intervening": 0}
        return {"subject_number": numbers[0], **between}
    first, second = numbers[::-1] if within else numbers
    return {"subject_number": first, "attractor_number": second, "n_intervening": 0 if within else 1}

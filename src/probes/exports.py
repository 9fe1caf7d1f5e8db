"""Challenge sets in other formats: CLAMS text, BLiMP JSON lines, and our own JSON lines, which are lossless."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from .challenge_set import TARGET, ChallengeSet, MinimalSet, SetError, Variant
from .contrast_notation import plain_contrast
from .readers.blimp import STRUCTURE


def clams(made: ChallengeSet) -> Iterator[str]:
    """`True<tab>sentence` and its `False` lines."""
    for index, item in enumerate(made):
        flags = [variant.grammatical for variant in item.variants]
        if flags[0] is not True or any(flag is not False for flag in flags[1:]):
            raise SetError(made.place(index), None, "CLAMS text needs one grammatical sentence, then ungrammatical ones")
        yield from (f"{variant.grammatical}\t{' '.join(variant.words)}" for variant in item.variants)


def blimp(made: ChallengeSet) -> Iterator[str]:
    """One object per good and bad sentence; features become fields."""
    for number, item in enumerate(made):
        good, bad = _pair(made, number)
        fields: dict[str, object] = {"sentence_good": good, "sentence_bad": bad}
        if taken := sorted(set(item.features) & set(STRUCTURE)):
            raise SetError(made.place(number), None, f"BLiMP already has a field {taken[0]}; rename this feature")
        if (prefix := _one_prefix(item)) is not None:
            fields |= prefix | {"one_prefix_method": True}
        defaults = {"UID": made.construction, "pairID": str(number)}
        yield json.dumps(fields | defaults | dict(item.features), ensure_ascii=False)


def _pair(made: ChallengeSet, index: int) -> tuple[str, str]:
    item = made[index]
    if [variant.grammatical for variant in item.variants] != [True, False]:
        raise SetError(made.place(index), None, "BLiMP can only hold pairs of one good and one bad sentence")
    good, bad = (variant.text or " ".join(variant.words) for variant in item.variants)
    return good, bad


def _one_prefix(item: MinimalSet) -> dict[str, str] | None:
    """If the sentences differ in one word after the same beginning."""
    good, bad = item.variants
    targets = [[span for span in variant.spans if span.name == TARGET] for variant in item.variants]
    if [len(spans) for spans in targets] != [1, 1]:
        return None
    (_, start, end), (_, other, stop) = targets[0][0], targets[1][0]
    if (start, end - start) != (other, stop - other) or end - start != 1:
        return None
    words = {"one_prefix_word_good": good.words[start], "one_prefix_word_bad": bad.words[start]}
    return {"one_prefix_prefix": " ".join(good.words[:start])} | words


def jsonl(made: ChallengeSet) -> Iterator[str]:
    """Everything: a head, then one object per minimal set."""
    head = {"construction": made.construction, "language": made.language, "dataset": made.dataset}
    declared: dict[str, object] = {"contrasts": [plain_contrast(contrast) for contrast in made.contrasts]}
    if made.together:
        declared["together"] = True
    if made.fixed_rules:
        declared["fixed_rules"] = dict(made.fixed_rules)
    if made.groupings:
        declared["groupings"] = {grouping.name: grouping.plain() for grouping in made.groupings}
    yield json.dumps({"challenge_set": head | declared}, ensure_ascii=False)
    for item in made:
        variants = [plain_variant(variant) for variant in item.variants]
        named = {"uid": item.uid} if made.names else {}
        yield json.dumps(named | {"features": dict(item.features), "variants": variants}, ensure_ascii=False)


def plain_variant(variant: Variant) -> dict[str, object]:
    """A variant as our own JSON lines write it."""
    spans = [list(span) for span in variant.spans]
    sentence = " ".join(variant.words)
    return {"role": variant.role, "grammatical": variant.grammatical, "sentence": sentence, "text": variant.text, "spans": spans}


FORMATS: dict[str, tuple[str, Callable[[ChallengeSet], Iterator[str]]]] = {
    "clams": (".txt", clams),
    "blimp": (".jsonl", blimp),
    "jsonl": (".jsonl", jsonl),
}


def must_be_a_name(made: ChallengeSet) -> None:
    """Construction names can come from untrusted files: none may lead out of the folder."""
    if not re.fullmatch(r"\w[\w .+-]*", made.construction):
        raise SetError(made.file, None, f"{made.construction[:60]!r} cannot be a file name; rename the construction")


def export(made: ChallengeSet, form: str, folder: Path) -> Path:
    """Write the set into a folder, all or nothing; return the file."""
    if form not in FORMATS:
        raise SetError(form, None, f"sets cannot be written in this format; available: {', '.join(FORMATS)}")
    must_be_a_name(made)
    suffix, lines = FORMATS[form]
    file = folder / f"{made.construction}{suffix}"
    text = "".join(f"{line}\n" for line in lines(made))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise SetError(file, None, f"cannot be written ({error.strerror}); choose another folder") from None
    return file

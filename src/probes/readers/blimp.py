"""BLiMP (Warstadt et al. 2020): one JSON object per line with a good and a bad sentence of raw text.

Besides whole sentences it measures, if a set allows it, the critical words after the same beginning (one prefix), or the same
critical word after two beginnings (two prefixes).
"""

from collections.abc import Iterator
from pathlib import Path

from ..challenge_set import TARGET, ChallengeSet, Span, Value, Variant
from ..contrast import pair_contrast
from ..pairs import raw_pair, words_of
from ..set_file import objects, text_field

SUFFIXES = {".jsonl"}
ROLES = ("good", "bad")
CRITICAL = "critical"
# Fields that are the sentences or measures themselves; all others are features.
STRUCTURE = (
    *("sentence_good", "sentence_bad", "simple_LM_method", "one_prefix_method", "two_prefix_method"),
    *("one_prefix_prefix", "one_prefix_word_good", "one_prefix_word_bad"),
    *("two_prefix_prefix_good", "two_prefix_prefix_bad", "two_prefix_word"),
)


def recognises(file: Path, head: str) -> bool:
    return '"sentence_good"' in head and '"sentence_bad"' in head


def read(file: Path, language: str) -> Iterator[ChallengeSet]:
    made = ChallengeSet(file.stem, language, dataset="blimp", file=str(file))
    one_prefix = two_prefixes = True
    for number, item in objects(file):
        good, bad = (text_field(item, key, file, number) for key in ("sentence_good", "sentence_bad"))
        variants = [_with_critical(variant, item, language) for variant in raw_pair(good, bad, language)]
        made.add(number, _features(item, file.stem, len(made)), variants)
        (_, start, _), (_, other, _) = (variant.spans[0] for variant in variants)
        one_prefix = one_prefix and bool(item.get("one_prefix_method")) and start == other
        two_prefixes = two_prefixes and all(variant.spans[-1].name == CRITICAL for variant in variants)
    measures = [("one prefix", TARGET)] * one_prefix + [("two prefixes", CRITICAL)] * two_prefixes
    if measures:
        others = (pair_contrast(name, *ROLES, span, alternative=True) for name, span in measures)
        made.contrasts = (pair_contrast("sentence", *ROLES), *others)
    yield made


def _features(item: dict[str, object], name: str, index: int) -> dict[str, Value]:
    """Fields that only repeat the file's name or the position in it are left out."""
    known = {"UID": name, "pairID": str(index)}
    kept = {key: value for key, value in item.items() if key not in STRUCTURE and str(value) != known.get(key)}
    return {key: value if type(value) is int else str(value) for key, value in kept.items()}


def _with_critical(variant: Variant, item: dict[str, object], language: str) -> Variant:
    """The word that both sentences share, after this sentence's own beginning."""
    prefix, word = item.get(f"two_prefix_prefix_{variant.role}"), item.get("two_prefix_word")
    if not item.get("two_prefix_method") or not isinstance(prefix, str) or not isinstance(word, str):
        return variant
    before, critical = words_of(prefix, language), words_of(word, language)
    span = Span(CRITICAL, len(before), len(before) + len(critical))
    if variant.words[: span.end] != (*before, *critical):
        return variant
    return Variant(variant.role, variant.grammatical, variant.words, variant.text, (*variant.spans, span))

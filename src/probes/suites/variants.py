"""A condition of an item as a variant of a minimal set: its sentence, with the regions as spans of words."""

from ..challenge_set import Span, Variant
from .region_sentence import RegionSpan, sentence_of
from .suite import Item, Suite


def variants_of(suite: Suite, item: Item, language: str) -> list[Variant]:
    """One variant per condition; suites do not say which are grammatical."""
    made = []
    for condition in item.conditions:
        sentence = sentence_of(suite, item, condition, language)
        spans = tuple(Span(span_name(region), region.first_word, region.end_word) for region in sentence.regions)
        made.append(Variant(condition.name, None, sentence.words, sentence.text, spans))
    return made


def span_name(region: RegionSpan) -> str:
    """`region:6:verb`, or `region:6` if the file gives no name."""
    return f"region:{region.number}:{region.name}" if region.name else f"region:{region.number}"

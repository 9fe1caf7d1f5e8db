"""A suite for its author: formulas with their chance, sentences region by region, notes of the checks."""

from collections.abc import Iterator, Sequence

from .chance import chance_of
from .checks import collection_notes, notes
from .region_sentence import sentence_of
from .suite import Item, Suite


def suite_lines(suite: Suite, language: str, items: Sequence[Item]) -> Iterator[str]:
    """What it is, what must hold, and these items."""
    chance = chance_of(suite)
    print_name = f"{suite.name}: {len(suite.items)} items × {len(suite.conditions)} conditions"
    yield f"{print_name}, item rule {suite.item_rule}, chance {chance.under(suite.item_rule)[0]:.3f}"
    for number, (prediction, share) in enumerate(zip(suite.predictions, chance.each, strict=True), start=1):
        yield f"  prediction {prediction.name or number}: {prediction.formula}   (chance {share:.3f})"
    for item in items:
        for condition in item.conditions:
            made = sentence_of(suite, item, condition, language)
            cells = " | ".join(made.text[span.start : span.end] for span in made.regions)
            yield f"  {item.number:>3} {condition.name:<18} {cells}"


def suite_notes(suites: Sequence[Suite], language: str) -> Iterator[tuple[str, str]]:
    """For each suite by name, then for all together."""
    for suite in suites:
        yield from ((suite.name, note) for note in notes(suite, suite.language or language))
    yield from (("", note) for note in collection_notes(suites))

"""What an author should review: reported, never repaired. Errors that make a suite unusable are raised when it is read."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from .core_tier import core_notes
from .feasibility import can_fail, can_hold
from .formula import Comparison, Formula, RegionReference, comparisons, references
from .formula_patterns import pattern_notes
from .region_sentence import sentence_of
from .released import RELEASED
from .suite import Item, Suite, counted_formulas, sentences

FEW_ITEMS = 20
LISTED = 8  # items listed in a note
# A form that should be likely in this share of the items, and never the opposite, is worth a note.
ONE_SIDED, FEWEST = 0.2, 4


def notes(suite: Suite, language: str = "") -> list[str]:
    """All notes on a suite, the most serious first."""
    checks: tuple[Callable[[Suite], Iterator[str]], ...] = (
        released_defects,
        decided_formulas,
        pattern_notes,
        repeated_items,
        equality_formulas,
        core_notes,
        few_items,
        stray_blanks,
        unread_regions,
        lengths,
        lexical_balance,
    )
    for item, condition in sentences(suite):
        sentence_of(suite, item, condition, language or suite.language)  # a word across two regions is an error
    return [note for check in checks for note in check(suite)]


def collection_notes(suites: Sequence[Suite]) -> list[str]:
    """What can be said only about suites together: repeated names, and missing bases."""
    names = Counter(suite.name for suite in suites)
    repeated = [f"{count} suites are named {name}" for name, count in names.items() if count > 1]
    missing = [
        f"{suite.file}: its base {suite.base} is not among the suites"
        for suite in suites
        if suite.base and suite.base not in names
    ]
    own = [f"{suite.file}: it is its own base" for suite in suites if suite.base == suite.name]
    return [*repeated, *missing, *own]


def released_defects(suite: Suite) -> Iterator[str]:
    """Known defects of published suites that no rule detects."""
    formulas = {"".join(prediction.formula.split()) for prediction in suite.predictions}
    yield from (defect.note for defect in RELEASED if defect.suite == suite.name and defect.formula in formulas)


def decided_formulas(suite: Suite) -> Iterator[str]:
    """Predictions decided before any model is consulted: the same words after the same words have the same surprisal."""
    for number, prediction in enumerate(suite.predictions, start=1):
        where = f"prediction {prediction.name or number}"
        tree = prediction.tree
        never = [i.number for i in suite.items if not can_hold(tree, _values(i, tree, blind=False))]
        always = [i.number for i in suite.items if not can_fail(tree, _values(i, tree, blind=False))]
        if never:
            best = f"best possible {len(suite.items) - len(never)}/{len(suite.items)}"
            yield f"{where} can never hold in {items_listed(never)} for a left-to-right model ({best})"
        if always:
            yield f"{where} always holds in {items_listed(always)} for a left-to-right model"


def _values(item: Item, formula: Formula, *, blind: bool) -> dict[RegionReference, list[object]]:
    """What each reference adds up: one value per non-empty region. With `blind`, only the region's own words count."""
    return {reference: list(_regions_of(item, reference, blind=blind)) for reference in references(formula)}


def _regions_of(item: Item, reference: RegionReference, *, blind: bool) -> Iterator[object]:
    before: tuple[str, ...] = ()
    for region in item[reference.condition].regions:
        words = tuple(region.content.split())
        if words and reference.region in (None, region.number):
            yield words if blind else (before, words)
        before += words


def repeated_items(suite: Suite) -> Iterator[str]:
    """Items with the same words in all conditions."""
    seen: dict[tuple[str, ...], int] = {}
    for item in suite.items:
        texts = tuple(item.content(RegionReference(None, name)) for name in suite.conditions)
        first = seen.setdefault(texts, item.number)
        if first != item.number:
            yield f"item {item.number} repeats item {first}"
    for item in suite.items:
        groups: dict[str, list[str]] = {}
        for name in suite.conditions:
            groups.setdefault(item.content(RegionReference(None, name)), []).append(name)
        yield from (
            f"item {item.number}: {' and '.join(names)} are the same sentence" for names in groups.values() if len(names) > 1
        )


def equality_formulas(suite: Suite) -> Iterator[str]:
    for number, prediction in enumerate(suite.predictions, start=1):
        if any(comparison.relation == "=" for comparison in comparisons(prediction.tree)):
            yield f"prediction {prediction.name or number} asks for equality (within .001 bits), which practically never holds"


def few_items(suite: Suite) -> Iterator[str]:
    if len(suite.items) < FEW_ITEMS:
        yield f"only {len(suite.items)} items; below {FEW_ITEMS} an accuracy says little"


def stray_blanks(suite: Suite) -> Iterator[str]:
    """Blanks at the ends of regions or doubled inside; they are not scored here, but other tools may score them."""
    touched = [(i, c) for i, c in sentences(suite) if any(r.content != " ".join(r.content.split()) for r in c.regions)]
    if touched:
        yield f"{len(touched)} sentences have blanks around or doubled inside region contents; they are read as single ones"


def unread_regions(suite: Suite) -> Iterator[str]:
    """Region names without a region, and a suite without predictions."""
    if not suite.predictions:
        yield "no predictions: nothing to judge"
    if extra := [str(number) for number in suite.region_names if number not in suite.regions]:
        yield f"region_meta names region {', '.join(extra)}, which no condition has"


def lengths(suite: Suite) -> Iterator[str]:
    """Sides of a comparison with different numbers of words mainly compare lengths."""
    for number, prediction in enumerate(suite.predictions, start=1):
        for clause, comparison in enumerate(comparisons(prediction.tree), start=1):
            uneven = [item.number for item in suite.items if _net_words(item, comparison)]
            if uneven:
                where = f"prediction {prediction.name or number}, comparison {clause}"
                yield f"{where}: the sides have different numbers of words in {items_listed(uneven)}"


def _net_words(item: Item, comparison: Comparison) -> float:
    """Words on the left minus words on the right, by weight."""
    terms = [*comparison.left.terms, *((-weight, reference) for weight, reference in comparison.right.terms)]
    return sum(weight * len(item.content(reference).split()) for weight, reference in terms)


def lexical_balance(suite: Suite) -> Iterator[str]:
    """Whether word frequency alone can satisfy what is counted, and forms that are always on the likelier side."""
    for name, formula in counted_formulas(suite, suite.item_rule):
        if any(comparison.relation == "=" for comparison in comparisons(formula)):
            continue  # a model that ignores the context finds everything equal
        blind = [item for item in suite.items if can_hold(formula, _values(item, formula, blind=True))]
        if blind:
            yield f"{name}: word frequency alone can satisfy it in {len(blind)} of {len(suite.items)} items"
            yield from _one_sided(suite, formula, blind, name)


def _one_sided(suite: Suite, formula: Formula, items: Sequence[Item], where: str) -> Iterator[str]:
    likelier, rarer = Counter[str](), Counter[str]()
    for item in items:
        for comparison in comparisons(formula):
            low, high = _sides(comparison)
            likelier.update(item.content(reference) for reference in low)
            rarer.update(item.content(reference) for reference in high)
    for form, count in likelier.most_common(3):
        if form and count >= max(FEWEST, ONE_SIDED * len(suite.items)) and not rarer[form]:
            yield f"{where}: {form!r} is the side that should be likelier in {count} comparisons and the other side in none"


def _sides(comparison: Comparison) -> tuple[list[RegionReference], list[RegionReference]]:
    """The regions that should be less, and more, surprising."""
    left, right = [t.reference for t in comparison.left.terms], [t.reference for t in comparison.right.terms]
    if comparison.relation == "=" or len(left) != 1 or len(right) != 1:
        return [], []
    return (left, right) if comparison.relation == "<" else (right, left)


def items_listed(numbers: Sequence[int]) -> str:
    """`item 5`, `items 5, 7`, `24 items (1, 2, …)`."""
    if len(numbers) == 1:
        return f"item {numbers[0]}"
    listed = ", ".join(map(str, numbers[:LISTED]))
    return f"items {listed}" if len(numbers) <= LISTED else f"{len(numbers)} items ({listed}, …)"

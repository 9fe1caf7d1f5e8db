"""The one type for suites: items of conditions of regions, and predictions, as given by a file or a page."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, cast, get_args

from ..challenge_set import SetError
from .formula import Comparison, Conjunction, Formula, RegionReference, normal_form, references
from .formula_parser import FormulaError, parse

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Metric = Literal["sum", "mean", "median", "min", "max", "range"]
Joiner = Literal["blank", "running"]
ItemRule = Literal["all", "first", "each"]


@dataclass(frozen=True, slots=True)
class Region:
    number: int
    content: str
    extra: Mapping[str, Json] = field(default_factory=dict)  # keys of the file that we do not use: kept


@dataclass(frozen=True, slots=True)
class Condition:
    name: str
    regions: tuple[Region, ...]
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Item:
    number: int
    conditions: tuple[Condition, ...]
    extra: Mapping[str, Json] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Condition:
        for condition in self.conditions:
            if condition.name == name:
                return condition
        raise KeyError(f"item {self.number} has no condition {name!r}")

    def content(self, reference: RegionReference) -> str:
        """The text of a region; of all regions if the reference is to the whole."""
        regions = self[reference.condition].regions
        return " ".join(" ".join(r.content for r in regions if reference.region in (None, r.number)).split())


@dataclass(frozen=True, slots=True)
class Prediction:
    """A formula that must hold for an item, as written and as a tree."""

    formula: str
    tree: Formula
    name: str = ""
    extra: Mapping[str, Json] = field(default_factory=dict)

    @property
    def ways(self) -> tuple[tuple[Comparison, ...], ...]:
        """True if all comparisons of one of these conjunctions hold."""
        return normal_form(self.tree)


@dataclass(frozen=True)
class Suite:
    """`meta` holds the file's metadata, unknown keys included; values with a default are read through a property."""

    file: str
    meta: Mapping[str, Json]
    region_names: Mapping[int, str]
    predictions: tuple[Prediction, ...]
    items: tuple[Item, ...]
    extra: Mapping[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_meta(self)
        _check_items(self)
        _check_predictions(self)

    @property
    def name(self) -> str:
        return self._text("name") or Path(self.file).name.split(".")[0]

    @property
    def metric(self) -> Metric:
        return cast("Metric", self._text("metric") or "sum")

    @property
    def joiner(self) -> Joiner:
        return cast("Joiner", self._text("joiner") or "blank")

    @property
    def item_rule(self) -> ItemRule:
        return cast("ItemRule", self._text("item_rule") or "all")

    @property
    def language(self) -> str:
        return self._text("language")

    @property
    def declared_circuit(self) -> str:
        """The circuit in the file; `circuits.circuit_of` also knows the published names."""
        return self._text("circuit")

    @property
    def base(self) -> str:
        """The suite without the modifier, if the file names one."""
        return self._text("base")

    @cached_property
    def conditions(self) -> tuple[str, ...]:
        return tuple(condition.name for condition in self.items[0].conditions)

    @cached_property
    def regions(self) -> tuple[int, ...]:
        return tuple(region.number for region in self.items[0].conditions[0].regions)

    def spell(self, reference: RegionReference) -> str:
        """A region as a reader would name it: `verb@match`."""
        region = "*" if reference.region is None else self.region_names.get(reference.region) or str(reference.region)
        return f"{region}@{reference.condition}"

    def _text(self, key: str) -> str:
        value = self.meta.get(key)
        return value if isinstance(value, str) else ""


def prediction(file: str, line: int | None, formula: str, name: str = "", extra: Mapping[str, Json] | None = None) -> Prediction:
    """A prediction from its text; if it cannot be parsed, the error names file and prediction."""
    try:
        return Prediction(formula, parse(formula), name, extra or {})
    except FormulaError as error:
        raise SetError(file, line, f"prediction{f' {name}' if name else ''}: {error}") from None


def _check_meta(suite: Suite) -> None:
    for key, allowed in (("metric", get_args(Metric)), ("joiner", get_args(Joiner)), ("item_rule", get_args(ItemRule))):
        value = suite.meta.get(key)
        if value is not None and value != "" and value not in allowed:
            raise SetError(suite.file, None, f"meta.{key} is {str(value)[:40]!r}; it must be one of {', '.join(allowed)}")
    for key in ("name", "circuit", "base", "language", "phenomenon"):
        if not isinstance(suite.meta.get(key, ""), str):
            raise SetError(suite.file, None, f"meta.{key} must be text; it is {str(suite.meta[key])[:40]!r}")


def _check_items(suite: Suite) -> None:
    """Every item has the conditions and every condition the regions of the first."""
    if not suite.items:
        raise SetError(suite.file, None, "the suite has no items")
    numbers: set[int] = set()
    for item in suite.items:
        if item.number in numbers:
            raise SetError(suite.file, None, f"item {item.number} appears twice; number the items from 1")
        numbers.add(item.number)
        names = [condition.name for condition in item.conditions]
        if not names or len(set(names)) < len(names):
            raise SetError(suite.file, None, f"item {item.number}: it must have conditions, with different names")
        if set(names) != set(suite.conditions):
            first = f"item {suite.items[0].number} has {', '.join(suite.conditions)}"
            raise SetError(suite.file, None, f"item {item.number} has the conditions {', '.join(names)}, but {first}")
        for condition in item.conditions:
            _check_regions(suite, item, condition)


def _check_regions(suite: Suite, item: Item, condition: Condition) -> None:
    where = f"item {item.number}, {condition.name}"
    numbers = tuple(region.number for region in condition.regions)
    if len(set(numbers)) < len(numbers):
        raise SetError(suite.file, None, f"{where}: a region number appears twice: {_listed(numbers)}")
    if numbers != suite.regions:
        raise SetError(
            suite.file,
            None,
            f"{where} has the regions {_listed(numbers)}, but the first condition of the suite has {_listed(suite.regions)}; "
            "give every condition the same regions, including empty ones",
        )
    if not any(region.content.strip() for region in condition.regions):
        raise SetError(suite.file, None, f"{where}: all regions are empty")


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers[:20])) or "none"


def _check_predictions(suite: Suite) -> None:
    for number, each in enumerate(suite.predictions, start=1):
        where = f"prediction {each.name or number}"
        for reference in references(each.tree):
            if reference.condition not in suite.conditions:
                known = ", ".join(suite.conditions)
                raise SetError(
                    suite.file, None, f"{where}: {reference}: no condition {reference.condition!r}; available: {known}"
                )
            if reference.region is not None and reference.region not in suite.regions:
                raise SetError(
                    suite.file,
                    None,
                    f"{where}: {reference}: no region {reference.region}; available: {_listed(suite.regions)}",
                )
            if suite.metric != "sum":
                _check_words(suite, where, reference)


def _check_words(suite: Suite, where: str, reference: RegionReference) -> None:
    """Only a sum has a value for nothing."""
    for item in suite.items:
        if not item.content(reference):
            raise SetError(
                suite.file,
                None,
                f"{where}: {reference} is empty in item {item.number}, where {suite.metric} is undefined; use metric sum",
            )


def sentences(suite: Suite) -> Iterator[tuple[Item, Condition]]:
    """Every sentence of a suite: item by item, condition by condition."""
    for item in suite.items:
        for condition in item.conditions:
            yield item, condition


def counted_formulas(suite: Suite, rule: ItemRule) -> list[tuple[str, Formula]]:
    """What an item is counted by: all predictions at once, the first alone, or each separately."""
    named = [(f"prediction {p.name or number}", p.tree) for number, p in enumerate(suite.predictions, start=1)]
    if rule == "all" and len(named) > 1:
        return [("all predictions", Conjunction(tuple(tree for _, tree in named)))]
    return named[:1] if rule == "first" else named

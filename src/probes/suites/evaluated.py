"""A suite after an evaluation, as other SyntaxGym tools write it: every region with its value and its unknown words."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from .suite import Condition, Item, Region, Suite


class VariantRegion(NamedTuple):
    item: int
    condition: str
    region: int


class RegionValue(NamedTuple):
    """Surprisal in bits by the suite's metric, and the words the model does not know."""

    value: float
    unknown: tuple[str, ...] = ()


def with_values(suite: Suite, values: Mapping[VariantRegion, RegionValue]) -> Suite:
    """The suite with `metric_value` and `oovs` in every evaluated region."""
    return replace(suite, items=tuple(_item(suite, item, values) for item in suite.items))


def _item(suite: Suite, item: Item, values: Mapping[VariantRegion, RegionValue]) -> Item:
    return replace(item, conditions=tuple(_condition(suite, item, condition, values) for condition in item.conditions))


def _condition(suite: Suite, item: Item, condition: Condition, values: Mapping[VariantRegion, RegionValue]) -> Condition:
    regions = (
        _region(region, suite.metric, values.get(VariantRegion(item.number, condition.name, region.number)))
        for region in condition.regions
    )
    return replace(condition, regions=tuple(regions))


def _region(region: Region, metric: str, value: RegionValue | None) -> Region:
    if value is None:  # an item left out of the evaluation
        return region
    return replace(region, extra={**region.extra, "metric_value": {metric: value.value}, "oovs": list(value.unknown)})

"""The search space, in Hydra's notation: `interval(0,0.5)`, `tag(log,interval(1e-4,1e-2))`, `range(1,4)`, `a,b,c`."""

from hydra.core.override_parser.types import IntervalSweep, Override
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from ...errors import UserError


def distribution(override: Override) -> BaseDistribution:
    """The distribution of one setting."""
    value = override.value()
    if not isinstance(value, IntervalSweep):
        return _discrete(override)
    low, high, log = value.start, value.end, "log" in value.tags
    assert low is not None
    assert high is not None
    try:
        if isinstance(low, int) and isinstance(high, int):  # int(interval(1,4))
            return IntDistribution(low, high, log=log)
        return FloatDistribution(low, high, log=log)
    except ValueError as error:
        raise UserError(f"{override.input_line}: {error}") from None


def _discrete(override: Override) -> BaseDistribution:
    """Equally spaced numbers are an axis; everything else is a choice between names."""
    if override.is_range_sweep():
        numbers = sorted(override.sweep_iterator())  # type: ignore[type-var]
        if len(numbers) > 1 and all(isinstance(number, int) for number in numbers):
            return IntDistribution(numbers[0], numbers[-1], step=numbers[1] - numbers[0])  # type: ignore[arg-type, operator]
    return CategoricalDistribution([*override.sweep_string_iterator()])

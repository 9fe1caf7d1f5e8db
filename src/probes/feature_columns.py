"""Item features as columns beside the results: what they may be called, and a column's type."""

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from .challenge_set import ChallengeSet, SetError, Value

# The columns of result files that are not features. A feature of the same name would overwrite a result.
RESERVED = frozenset(
    {
        *("uid", "construction", "contrast", "language", "set", "dev"),
        *("good_score", "bad_score", "verdict", "tie", "covered", "unknown_context", "margin", "clause_margins", "chance"),
        *(f"{side}{part}" for side in ("good", "bad") for part in ("", "_logprobs", "_unknown", "_target", "_frequency")),
        *("compared", "compared_logprobs", "compared_unknown"),
    }
)
LARGEST = 2**63


def check_feature_names(made: ChallengeSet) -> None:
    """Check when a set is read that no feature is named like a result."""
    # Readers share equal objects, so most items are checked only once.
    different = {id(features): (index, features) for index, features in reversed(list(enumerate(made.features)))}
    for index, features in sorted(different.values(), key=lambda each: each[0]):
        if taken := sorted(RESERVED & features.keys()):
            raise SetError(
                made.file_of(index),
                made.lines[index],
                f"a feature (column) is named {taken[0]}, like a result column; rename it, for instance to item_{taken[0]}",
            )


def feature_columns(sets: Sequence[ChallengeSet], places: Iterable[tuple[int, int]]) -> dict[str, pa.Array]:
    """One column per feature, one value per place (a set's number and an item's number in it)."""
    chosen: list[Mapping[str, Value]] = [sets[number].features[item] for number, item in places]
    names = dict.fromkeys(name for made in sets for name in made.feature_names())
    if taken := RESERVED & names.keys():
        raise ValueError(f"features called like results: {sorted(taken)}")
    return {name: feature_column([features.get(name) for features in chosen]) for name in names}


def feature_column(values: Sequence[Value | None]) -> pa.Array:
    """Integers or booleans if all values are; otherwise, and for numbers too large for a column, text."""
    there = [value for value in values if value is not None]
    kinds = {type(value) for value in there}
    if kinds <= {bool} or (kinds == {int} and all(-LARGEST <= value < LARGEST for value in there if isinstance(value, int))):
        return pa.array(values)
    return pa.array([None if value is None else _as_text(value) for value in values])


def _as_text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

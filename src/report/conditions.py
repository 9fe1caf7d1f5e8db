"""Which runs may be averaged: those that differ only in the seed, evaluated on the same items under the same contract."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .condition_names import name_conditions
from .intervals import spread
from .memory import Memory
from .results import Result
from .wording import language_name


@dataclass(frozen=True)
class RunCondition:
    """Runs that differ only in their seed. `name` tells the condition from the others in the report."""

    name: str
    results: tuple[Result, ...]
    memory: Memory = field(default_factory=Memory, init=False, compare=False, repr=False)

    @property
    def first(self) -> Result:
        return self.results[0]

    @property
    def language(self) -> str:
        return self.first.language

    @property
    def constructions(self) -> list[str]:
        return list(dict.fromkeys(name for result in self.results for name in result.scores))

    @property
    def perplexities(self) -> NDArray[np.float64]:
        """Perplexity of the test text, by seed."""
        return np.array([result.perplexity for result in self.results])

    def spread(self, values: NDArray[np.float64]) -> float:
        """Standard deviation over seeds: of the sample, or under the CLAMS protocol of the population, as in their Table 5."""
        return spread(values, self.of_population)

    @property
    def of_population(self) -> bool:
        return self.first.contract.get("protocol") == "clams"

    @property
    def title(self) -> str:
        """The name with its language."""
        return f"{language_name(self.language)}, {self.name}"

    @property
    def name_with_seeds(self) -> str:
        return self.with_seeds(self.name)

    def with_seeds(self, name: str) -> str:
        """The name, with the number of runs behind its means."""
        return name if len(self.results) == 1 else f"{name} ({len(self.results)} seeds)"


def contracts_of(conditions: Sequence[RunCondition]) -> list[tuple[str, str]]:
    """Every contract and its statements; one name may cover several, depending on the model and the sets."""
    found: dict[tuple[str, str], list[str]] = {}
    for condition in conditions:
        said = str(condition.first.contract.get("statement", "not known"))
        found.setdefault((condition.first.label, said), []).append(f"{condition.title}, {condition.first.set}")
    several = {label for label, _ in found if sum(other == label for other, _ in found) > 1}
    return [
        (f"{label} ({'; '.join(dict.fromkeys(names))})" if label in several else label, said)
        for (label, said), names in found.items()
    ]


def about_deviation(conditions: Sequence[RunCondition]) -> str:
    """Which standard deviation these conditions are shown with."""
    populations = {condition.of_population for condition in conditions}
    if len(populations) > 1:
        return "± standard deviation over seeds (the sample's, n − 1; under the protocol clams the population's, n)"
    return f"± standard deviation over seeds ({'the population’s, n' if populations == {True} else 'the sample’s, n − 1'})"


def condition_key(result: Result) -> str:
    """Equal for models that differ in nothing but the seed."""
    return json.dumps(result.model.recipe, sort_keys=True, default=str)


def comparison_key(result: Result) -> tuple[str, ...]:
    """Accuracies compare when this is equal: same items, same contract."""
    return result.language, result.set, result.digest, result.label


def group_by_condition(results: Sequence[Result], before: Sequence[RunCondition] = ()) -> list[RunCondition]:
    """The conditions, by language, monolingual before multilingual, in the order found.

    A condition equal to one in `before` is that very object, with everything already computed for it.
    """
    found: dict[tuple[str, ...], list[Result]] = {}
    for result in results:
        kept_apart = (result.sample, result.vocabulary, str(result.finished))
        found.setdefault((condition_key(result), *comparison_key(result), *kept_apart), []).append(result)
    members = [tuple(sorted(own, key=lambda r: (r.seed is None, r.seed, r.name))) for own in found.values()]
    known = {(each.name, *map(id, each.results)): each for each in before}
    named = [
        known.get((name, *map(id, own))) or RunCondition(name, own)
        for name, own in zip(name_conditions(members), members, strict=True)
    ]
    return sorted(named, key=lambda condition: (condition.language, condition.first.set, condition.first.multilingual))


def explain_separations(conditions: Sequence[RunCondition]) -> list[str]:
    """Which runs one might expect to be averaged but are not, and why."""
    notes = []
    alike: dict[tuple[str, str, str], list[RunCondition]] = {}
    for condition in conditions:
        alike.setdefault((condition_key(condition.first), condition.language, condition.first.set), []).append(condition)
    for (_, language, name), members in alike.items():
        reasons = _differences([condition.first for condition in members])
        if len(members) > 1 and reasons:
            shown = " and ".join(f"{condition.name} ({_runs(len(condition.results))})" for condition in members)
            what = f"{language_name(language)} {name}: models trained with the same settings are shown separately, {shown}"
            notes.append(f"{what}, because they differ in {reasons}")
    return notes


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"


def _differences(firsts: Sequence[Result]) -> str:
    finished = [result for result in firsts if result.finished]
    digests = {
        "the items of the set": [result.digest for result in finished],
        "the items probed during training": [result.sample for result in firsts if result.kind == "run"],
        "the vocabulary": [result.vocabulary for result in firsts],
    }
    facts = {
        "the scoring contract": [result.label for result in firsts],
        "how far they have got": ["finished" if result.finished else "not finished" for result in firsts],
    }
    unlike = [what for what, found in digests.items() if len(set(found)) > 1]
    unlike += [f"{what} ({' / '.join(dict.fromkeys(found))})" for what, found in facts.items() if len(set(found)) > 1]
    return ", ".join(unlike)

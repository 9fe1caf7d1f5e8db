"""The tests a reviewer asks for, as tables."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

from .acquisition import LEVELS, Acquisition, OrderSimilarity, measure_acquisition, similarity_of_conditions, similarity_of_seeds
from .baseline import Baseline
from .comparison import ALPHA, TestedDifference, compare_conditions, compare_models, holm
from .conditions import RunCondition, comparison_key
from .correlation import correlations
from .estimates import Estimates
from .grids import EMPTY, Cell, Grid, Head, number_cell
from .language_tables import complexity_table, language_table
from .phase_tables import phase_table
from .results import Result
from .stuck_items import stuck_tables
from .wording import construction_labels, construction_name, format_words, in_paper_order, language_name

ABOUT_MODELS = (
    "n: items that both cover; better, worse: items that one model gets right and the other wrong. p: McNemar's exact test; "
    f"p, Holm: corrected over all rows of this table, * below {ALPHA}. The test concerns these models and items; it ignores "
    "that items share words."
)
ABOUT_RECIPES = (
    "p: permutation test over seeds, exact if they are few; p, Holm: corrected over all rows of this table, "
    f"* below {ALPHA}. The test concerns the recipes. Five seeds against five cannot give p below 0.008, three against three "
    "not below 0.1."
)
ABOUT_ACQUISITION = (
    "Words seen until accuracy on the sample reached the level and held it at the next probe, interpolated between probes; "
    "in brackets 95\u00a0% intervals from a bootstrap over items and seeds (for a single run, over its items), … if open. "
    "(2/5 seeds): only these reached it, and the mean is theirs. The spacing of probes limits the precision."
)
ABOUT_ORDER = (
    "Kendall's τ-b of words seen to 75\u00a0%: 1 is the same order, 0 no relation; levels never reached come last. For seeds: "
    "the mean over pairs of runs. For two conditions: τ of their means over seeds, p exact if there are no ties, not corrected."
)
ABOUT_CORRELATION = (
    "Spearman's ρ of test perplexity and accuracy over runs of one language, vocabulary, set and contract: negative where the "
    "better language model has the better syntax. p from permutations, with five runs never below 0.017, with four never below "
    "0.083; p, Holm: corrected over the rows of a set. Constructions on which all runs score the same have no row."
)
PAIRS = 12  # conditions whose orders are compared pairwise


def comparison_tables(conditions: Sequence[RunCondition], baseline: Baseline) -> list[Grid]:
    """Every model against the baseline on the same items; every condition against the baseline's, over seeds."""
    bases = {comparison_key(r): r for g in conditions for r in g.results if (r.path, r.name) == baseline}
    models: list[TestedDifference] = []
    recipes: list[TestedDifference] = []
    for condition in conditions:
        for result in condition.results:
            base = bases.get(comparison_key(result))
            if base is not None and base is not result:
                models += compare_models(result, base)
        for other in conditions:
            if other is not condition and any((r.path, r.name) == baseline for r in other.results):
                recipes += compare_conditions(condition, other)
    made = (
        [_difference_table("compared", "Models against the baseline", f"Baseline {baseline[1]}. {ABOUT_MODELS}", models)]
        if models
        else []
    )
    return made + (
        [_difference_table("recipes", "Conditions against the baseline's, over seeds", ABOUT_RECIPES, recipes)] if recipes else []
    )


def _difference_table(name: str, title: str, note: str, found: list[TestedDifference]) -> Grid:
    corrected = holm([each.p for each in found])
    several = len({each.language for each in found}) > 1
    rows = []
    for each, p in zip(found, corrected, strict=True):
        row = replace(each, corrected=p)
        counted = (row.n, row.better, row.worse) if name == "compared" else ()
        counts = [number_cell(count, f"{count:,}") for count in counted]
        cells = [number_cell(row.base_accuracy), number_cell(row.accuracy), number_cell(row.gain, f"{row.gain:+.2f}")]
        cells += [*counts, number_cell(row.p, _format_p(row.p)), _p_cell(p)]
        other = f"{row.other}, {language_name(row.language)}" if several else row.other
        rows.append((f"{other}: {construction_name(row.construction)}", tuple(cells)))
    named = ("n", "better", "worse") if name == "compared" else ()
    heads = tuple(Head("", head) for head in ("baseline", "this", "difference", *named, "p", "p, Holm"))
    return Grid(name, title, note, "comparison", heads, tuple(rows))


def _format_p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _p_cell(p: float) -> Cell:
    below = p < ALPHA
    return Cell(_format_p(p) + (" *" if below else ""), (("value", p),), strong=below)


# ----------------------------------------------------------------- acquisition


def acquisition_table(conditions: Sequence[RunCondition], found: dict[int, list[Acquisition]]) -> Grid | None:
    """Words seen to 75 % and 90 %."""
    with_curves = [(number, condition) for number, condition in enumerate(conditions) if found.get(number)]
    if not with_curves:
        return None
    names = in_paper_order(list(dict.fromkeys(each.construction for number, _ in with_curves for each in found[number])))
    labels = construction_labels(names)
    heads = [
        Head(f"{language_name(g.language)}, {g.name}", f"{g.first.axis} to {100 * level:.0f}\u00a0%")
        for _, g in with_curves
        for level in LEVELS
    ]
    rows = []
    for name in names:
        known = {(number, each.level): each for number, _ in with_curves for each in found[number] if each.construction == name}
        rows.append(
            (
                labels[name],
                tuple(_acquisition_cell(known.get((number, level))) for number, _ in with_curves for level in LEVELS),
            )
        )
    return Grid("acquisition", "When a construction is learnt", ABOUT_ACQUISITION, "construction", tuple(heads), tuple(rows))


def _acquisition_cell(found: Acquisition | None) -> Cell:
    if found is None:
        return EMPTY
    text = format_words(found.words) if math.isfinite(found.words) else "not reached"
    if not math.isnan(found.low) and math.isfinite(found.low):
        text += f" [{format_words(found.low)}, {format_words(found.high)}]"
    text += f" ({found.reached}/{found.seeds} seeds)" if 0 < found.reached < found.seeds else ""
    return Cell(
        text,
        (("value", found.words), ("low", found.low), ("high", found.high), ("reached", found.reached), ("runs", found.seeds)),
    )


def order_table(conditions: Sequence[RunCondition]) -> Grid | None:
    """Whether seeds, conditions and languages learn in the same order."""
    curved = [condition for condition in conditions if any(len(result.moments) > 1 for result in condition.results)]
    found: list[OrderSimilarity | None] = [similarity_of_seeds(condition) for condition in curved if len(condition.results) > 1]
    found += [similarity_of_conditions(one, other) for one, other in itertools.combinations(curved[:PAIRS], 2)]
    rows = []
    for each in found:
        if each is not None:
            label = f"seeds of {each.one}" if each.one == each.other else f"{each.one} and {each.other}"
            p = number_cell(each.p, _format_p(each.p))
            rows.append(
                (
                    label,
                    (
                        number_cell(each.tau),
                        p,
                        number_cell(each.constructions, str(each.constructions)),
                        number_cell(each.pairs, str(each.pairs)),
                    ),
                )
            )
    if not rows:
        return None
    heads = tuple(Head("", name) for name in ("τ", "p", "constructions", "pairs of runs"))
    note = ABOUT_ORDER + (f" Pairs: the first {PAIRS} of {len(curved)} conditions only." if len(curved) > PAIRS else "")
    return Grid("order", "The order of acquisition", note, "compared", heads, tuple(rows))


def correlation_table(results: Sequence[Result]) -> Grid | None:
    """Rank correlation over runs."""
    found = correlations(results)
    rows = tuple(
        (
            f"{language_name(each.language)} {each.set}: {construction_name(each.construction)}",
            (
                number_cell(each.rho),
                number_cell(each.p, _format_p(each.p)),
                _p_cell(each.corrected),
                number_cell(each.runs, str(each.runs)),
            ),
        )
        for each in found
    )
    heads = tuple(Head("", name) for name in ("ρ", "p", "p, Holm", "runs"))
    return Grid("correlation", "Perplexity and accuracy", ABOUT_CORRELATION, "over runs", heads, rows) if rows else None


def statistics_tables(conditions: Sequence[RunCondition], baseline: Baseline | None, plain: bool = False) -> list[Grid]:
    """The tables with enough runs behind them. `plain`: only what numpy alone can compute, since training needs nothing else."""
    made: list[Grid] = []
    sets = list(dict.fromkeys(condition.first.set for condition in conditions))
    for name in sets:
        own = [condition for condition in conditions if condition.first.set == name]
        tables = comparison_tables(own, baseline) if baseline else []
        found = acquisition_table(own, {number: measure_acquisition(condition) for number, condition in enumerate(own)})
        tables += [each for each in (found, phase_table(own)) if each]
        tables += [] if plain else stuck_tables(own)
        made += [replace(t, name=f"{t.name}-{name}", title=f"{t.title}: {name}") if len(sets) > 1 else t for t in tables]
    if plain:
        return made
    results = [result for condition in conditions for result in condition.results]
    over_runs = [order_table(conditions), correlation_table(results)]
    sets_of = [Estimates([each for each in conditions if each.first.set == name]) for name in sets]
    over_languages = [table for own in sets_of for table in (language_table(own), complexity_table(own, _format_p))]
    if len(sets) > 1:
        named = [name for name in sets for _ in range(2)]
        over_languages = [
            t and replace(t, name=f"{t.name}-{name}", title=f"{t.title}: {name}")
            for t, name in zip(over_languages, named, strict=True)
        ]
    return made + [grid for grid in (*over_runs, *over_languages) if grid is not None]

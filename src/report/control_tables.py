"""Originals and controls: accuracy by number of correct heuristics, by number and by distance, paired tests, a regression.

After Li, Wisniewski and Crabbé (2021). Items and controls are paired by name: a control has the name of its original.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from pyarrow import parquet

from ..data.prefix_heuristics import N_HEURISTICS, NAMES, RIGHT
from ..probes.treebanks.controls import KINDS, original_uid
from .comparison import ALPHA, holm, mcnemar_p
from .conditions import RunCondition
from .feature_tables import feature_table_if_any
from .grids import EMPTY, Cell, Grid, Head, number_cell
from .published_values import SCALE, Published, published
from .results import Result
from .wording import language_name

CONTROL, ORIGINAL = "control", "original"
HEURISTICS_GROUPING = "heuristics"  # from conf/probes/participles.yaml and treebank.yaml
# Shown by control if the items have the feature: the feature, the table's name, its title.
TABLES = (
    (N_HEURISTICS, "heuristic-groups", "Accuracy by number of correct heuristics"),
    ("subject_number", "number", "Accuracy by grammatical number"),
    ("distance_bin", "distance", "Accuracy by distance"),
    ("auxiliary_at_2", "inverted", "Accuracy with only an auxiliary between cue and target, by its number"),
)
ABOUT_PAIRS = (
    "Each control against its original, item by item (the first of three nonce items). better, worse: items that only the "
    "original, or only the control, gets right. p: McNemar's exact test; p, Holm: corrected over all rows of this table, * below "
    f"{ALPHA}."
)
ABOUT_REGRESSION = (
    "Logistic regression of the verdict on the original items, all models of a set together; ties are left out. Numbers are "
    "log odds. Items are treated as independent, which those sharing a sentence or a verb are not."
)


def control_tables(conditions: Sequence[RunCondition], plain: bool = False) -> list[Grid]:
    """The tables whose features some items have."""
    made: list[Grid] = []
    known = [condition for condition in conditions if all(map(_is_about_heuristics, condition.results))]
    if not known:
        return []
    across = CONTROL if any(_has(result, CONTROL) for condition in known for result in condition.results) else ""
    for feature, name, title in TABLES:
        own = [c for c in known if all(_has(result, feature) and (not across or _has(result, CONTROL)) for result in c.results)]
        # A feature may be known only for items that are all uncovered.
        if own and (grid := feature_table_if_any(own, feature, across, f"by-{name}", title)):
            made.append(_beside_published(_originals_first(grid), feature, own))
    made.append(heuristics_table(known))
    pairs = [] if plain else paired_tests(known)
    return (
        made + ([_pairs_table(pairs)] if pairs else []) + [grid for grid in ([] if plain else [regression_table(known)]) if grid]
    )


def _originals_first(grid: Grid) -> Grid:
    """Each model's columns in the study's order, without feature names, which the title and corner already give."""
    kinds = [ORIGINAL, *KINDS]
    tops = list(dict.fromkeys(head.top for head in grid.heads))
    names = [head.name.removeprefix(f"{CONTROL}=") for head in grid.heads]
    order = sorted(
        range(len(names)), key=lambda i: (tops.index(grid.heads[i].top), kinds.index(names[i]) if names[i] in kinds else i)
    )
    heads = tuple(replace(grid.heads[i], name=names[i]) for i in order)
    rows = tuple((label.partition("=")[2] or label, tuple(cells[i] for i in order)) for label, cells in grid.rows)
    return replace(grid, heads=heads, rows=rows)


def _is_about_heuristics(result: Result) -> bool:
    """Whether a collection has controls or is grouped by heuristics; agreement items have heuristics but are not about them."""
    return _has(result, N_HEURISTICS) and (_has(result, CONTROL) or HEURISTICS_GROUPING in result.groupings)


def _has(result: Result, name: str) -> bool:
    return result.items is not None and name in parquet.read_schema(result.items).names


# ------------------------------------------------------------------- published


def _beside_published(grid: Grid, feature: str, conditions: Sequence[RunCondition]) -> Grid:
    """Add what Li, Wisniewski and Crabbé (2021) report, if the items are French participles."""
    if not any(condition.language == "fr" and _are_participles(condition) for condition in conditions):
        return grid
    values = {(each.model, each.condition): each for each in published() if each.source == STUDY and each.construction == STUDIED}
    labels = [label for label, _ in grid.rows]
    heads, columns = list(grid.heads), []
    for model in ("LSTM", "Transformer"):
        for kind in (ORIGINAL, *KINDS):
            cells = [_published_cell(values.get((model, f"{kind}, {PRINTED[feature](label)}"))) for label in labels]
            if any(cell is not EMPTY for cell in cells):
                heads.append(Head(f"French, {STUDY}", f"{model}, {kind}", published=True))
                columns.append(cells)
    rows = tuple((label, (*cells, *(column[i] for column in columns))) for i, (label, cells) in enumerate(grid.rows))
    return replace(grid, heads=tuple(heads), rows=rows, note=grid.note + ABOUT_PUBLISHED)


def _are_participles(condition: RunCondition) -> bool:
    return condition.first.set == "participles" or any(name.startswith("obj_participle") for name in condition.constructions)


def _published_cell(found: Published | None) -> Cell:
    if found is None:
        return EMPTY
    sd = "" if found.sd is None else f" ± {found.sd * SCALE[found.metric]:.2f}"
    return Cell(f"{found.share:.2f}{sd}", (("value", found.share), ("n", float(found.n or 0))))


STUDY, STUDIED = "Li et al. 2021", "object_past_participle"
ABOUT_PUBLISHED = " † published, with different training data and items; ± over their three best runs."
# What the study calls each row.
PRINTED: dict[str, Callable[[str], str]] = {
    N_HEURISTICS: lambda label: f"{label} heuristic{'s' if label not in ('0', '1') else ''}",
    "subject_number": lambda label: label,
    "distance_bin": lambda label: f"distance {label} tokens",
    "auxiliary_at_2": lambda label: f"distance 2 tokens, auxiliary of the {label}",
}


# ------------------------------------------------------------------ heuristics


def heuristics_table(conditions: Sequence[RunCondition]) -> Grid:
    """How far the heuristics get on the items of each set; the four shares add up to the mean number of correct ones."""
    heads, columns = [], []
    seen: set[tuple[str, ...]] = set()
    for condition in conditions:
        result = condition.first
        key = (result.language, result.set, result.digest)
        if key in seen or result.items is None:
            continue
        seen.add(key)
        names = [*NAMES, N_HEURISTICS, *([CONTROL] if _has(result, CONTROL) else [])]
        table = parquet.read_table(result.items, columns=names).to_pydict()
        kinds = table.get(CONTROL) or [ORIGINAL] * len(table[N_HEURISTICS])
        for kind in dict.fromkeys(kinds):
            rows = [
                i for i, (each, n) in enumerate(zip(kinds, table[N_HEURISTICS], strict=True)) if each == kind and n is not None
            ]
            if rows:
                heads.append(Head(f"{result.language}, {result.set}", str(kind)))
                shares = [sum(table[name][i] == RIGHT for i in rows) / len(rows) for name in NAMES]
                columns.append([*shares, sum(int(table[N_HEURISTICS][i]) for i in rows) / len(rows), float(len(rows))])
    rows_of = [(name, tuple(number_cell(column[at], f"{column[at]:.3f}") for column in columns)) for at, name in enumerate(NAMES)]
    rows_of.append(("mean n_heuristics", tuple(number_cell(column[4], f"{column[4]:.3f}") for column in columns)))
    rows_of.append(("n", tuple(number_cell(column[5], f"{column[5]:,.0f}") for column in columns)))
    note = "Share of items for which each heuristic picks the right number; with nothing to go by, it counts as wrong."
    return Grid("heuristics", "Four heuristics that need no model", note, "heuristic", tuple(heads), tuple(rows_of))


# ---------------------------------------------------------------- paired tests


@dataclass(frozen=True)
class PairedTest:
    """One model, one control: accuracies on the pairs, and the items that only one side gets right."""

    model: str
    language: str
    control: str
    n: int
    original: float
    changed: float
    better: int
    worse: int
    p: float


def paired_tests(conditions: Sequence[RunCondition]) -> list[PairedTest]:
    """Every model on every control of its items."""
    found = []
    for result in (result for condition in conditions for result in condition.results):
        if not _has(result, CONTROL) or result.items is None:
            continue
        verdicts = _verdicts(result)
        for kind in KINDS:
            pairs = [(verdicts[ORIGINAL][uid], verdict) for uid, verdict in verdicts[kind].items() if uid in verdicts[ORIGINAL]]
            if pairs:
                one, two = np.array(pairs).T
                better, worse = int((one > two).sum()), int((one < two).sum())
                means = float(one.mean()), float(two.mean())
                about, p = (result.name, result.language, kind, len(pairs)), mcnemar_p(better, worse)
                found.append(PairedTest(*about, *means, better, worse, p))
    return found


def _verdicts(result: Result) -> dict[str, dict[str, float]]:
    """By control and name of the original; of several nonce items of one original, the first."""
    table = parquet.read_table(result.items, columns=["uid", CONTROL, "verdict", "covered"]).to_pydict()
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for uid, kind, verdict, covered in zip(*table.values(), strict=True):
        if covered and kind is not None and uid == original_uid(uid):
            found[kind][uid] = float(verdict)
    return found


def _pairs_table(found: Sequence[PairedTest]) -> Grid:
    several = len({each.language for each in found}) > 1
    rows = []
    for each, p in zip(found, holm([each.p for each in found]), strict=True):
        cells = [number_cell(each.n, f"{each.n:,}"), number_cell(each.original), number_cell(each.changed)]
        cells += [number_cell(each.changed - each.original, f"{each.changed - each.original:+.2f}")]
        cells += [number_cell(each.better, f"{each.better:,}"), number_cell(each.worse, f"{each.worse:,}")]
        cells += [
            number_cell(each.p, f"{each.p:.3g}"),
            Cell(f"{p:.3g}{' *' if p < ALPHA else ''}", (("value", p),), strong=p < ALPHA),
        ]
        model = f"{each.model}, {language_name(each.language)}" if several else each.model
        rows.append((f"{model}: {each.control}", tuple(cells)))
    heads = tuple(Head("", name) for name in ("pairs", ORIGINAL, "control", "difference", "better", "worse", "p", "p, Holm"))
    return Grid("controls", "Originals and their controls", ABOUT_PAIRS, "model and control", heads, tuple(rows))


# ------------------------------------------------------------------ regression


@dataclass(frozen=True)
class Regression:
    names: tuple[str, ...]
    coefficients: NDArray[np.float64]
    errors: NDArray[np.float64]  # standard errors
    n: int


def logistic_regression(x: NDArray[np.float64], y: NDArray[np.float64], names: Sequence[str]) -> Regression | None:
    """By Newton's method, with a constant; None if there is no maximum: a column separates the data or repeats another."""
    design = np.column_stack([np.ones(len(x)), x])
    beta = np.zeros(design.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(design @ beta, -30, 30)))
        information = (design * (p * (1 - p))[:, None]).T @ design
        if np.linalg.cond(information) > 1e12:
            return None
        step = np.linalg.solve(information, design.T @ (y - p))
        beta += step
        if np.abs(step).max() < 1e-10:
            return Regression(("constant", *names), beta, np.sqrt(np.diag(np.linalg.inv(information))), len(y))
    return None


def regression_table(conditions: Sequence[RunCondition]) -> Grid | None:
    """The verdict on the original items, predicted from what makes them hard and from the model."""
    rows: list[list[float]] = []
    verdicts: list[float] = []
    models = list(dict.fromkeys(result.name for condition in conditions for result in condition.results if result.items))
    for result in (result for condition in conditions for result in condition.results):
        for values, verdict in _regression_rows(result):
            rows.append([*values, *(float(result.name == model) for model in models[1:])])
            verdicts.append(verdict)
    if len(set(verdicts)) < 2:
        return None
    names = [*REGRESSORS, *(f"model: {model}" for model in models[1:])]
    x = np.array(rows)
    varying = [i for i in range(x.shape[1]) if np.ptp(x[:, i]) > 0]
    found = logistic_regression(x[:, varying], np.array(verdicts), [names[i] for i in varying])
    if found is None:
        return None
    from scipy.stats import norm  # noqa: PLC0415

    z = found.coefficients / found.errors
    p = 2 * norm.sf(np.abs(z))
    lines = [
        (
            name,
            tuple(
                number_cell(float(v), t) for v, t in ((b, f"{b:+.3f}"), (e, f"{e:.3f}"), (zz, f"{zz:+.2f}"), (pp, f"{pp:.3g}"))
            ),
        )
        for name, b, e, zz, pp in zip(found.names, found.coefficients, found.errors, z, p, strict=True)
    ]
    heads = tuple(Head("", head) for head in ("log odds", "standard error", "z", "p"))
    left = [names[i] for i in range(len(names)) if i not in varying]
    note = f"{ABOUT_REGRESSION} n = {found.n:,}." + (f" Constant, and left out: {', '.join(left)}." if left else "")
    return Grid("regression", "What makes an item hard", note, "predictor", heads, tuple(lines))


REGRESSORS = ("n_heuristics", "distance", "n_attractors", "log frequency ratio", "plural")


def _regression_rows(result: Result) -> list[tuple[list[float], float]]:
    if result.items is None or not _has(result, N_HEURISTICS):
        return []
    there = parquet.read_schema(result.items).names
    asked = [
        "verdict",
        "tie",
        "covered",
        N_HEURISTICS,
        "distance",
        "n_attractors",
        "subject_number",
        CONTROL,
        "good_frequency",
        "bad_frequency",
    ]
    table = parquet.read_table(result.items, columns=[name for name in asked if name in there]).to_pylist()
    found = []
    for row in table:
        known = row["covered"] and row.get(CONTROL, ORIGINAL) == ORIGINAL and not row["tie"]
        if not known or row[N_HEURISTICS] is None or row.get("distance") is None:
            continue
        good, bad = (float(row.get(f"{side}_frequency") or 0) for side in ("good", "bad"))
        values = [float(row[N_HEURISTICS]), float(row["distance"]), float(row.get("n_attractors") or 0)]
        values += [float(np.log((good + 1) / (bad + 1))), float(row.get("subject_number") == "plural")]
        found.append((values, float(row["verdict"])))
    return found


# ----------------------------------------------------------------- withholding


def withholding_table(conditions: Sequence[RunCondition]) -> Grid | None:
    """Models trained without certain sentences, beside models trained without as many other sentences."""
    control = {_recipe(c): c for c in conditions if c.first.model.recipe.get("data.withhold_control")}
    rows = []
    for condition in conditions:
        beside = control.get(_recipe(condition))
        if beside is None or beside is condition or not condition.first.model.recipe.get("data.withhold"):
            continue
        for name in [name for name in condition.constructions if name in beside.constructions]:
            without, with_them = (float(np.mean([r.scores[name].accuracy for r in c.results])) for c in (condition, beside))
            cells = (
                number_cell(without),
                number_cell(with_them),
                number_cell(without - with_them, f"{without - with_them:+.2f}"),
            )
            n = condition.first.scores[name].n
            names = ", ".join(map(str, condition.first.model.recipe["data.withhold"] or []))  # type: ignore[arg-type]
            rows.append(
                (f"{condition.title}, without {names}: {name}", (*cells, number_cell(n, f"{n:,}"), _seeds(condition, beside)))
            )
    heads = tuple(Head("", name) for name in ("withheld", "control", "difference", "n", "runs"))
    note = (
        "Accuracy of models that saw no sentence of this kind, and of models that saw them but not an equal number of others of "
        "the same lengths; means over seeds. Both share the same valid and test texts."
    )
    return Grid("withholding", "Withheld and control", note, "condition and construction", heads, tuple(rows)) if rows else None


def _seeds(one: RunCondition, two: RunCondition) -> Cell:
    return Cell(f"{len(one.results)} and {len(two.results)}") if one.results else EMPTY


def _recipe(condition: RunCondition) -> tuple[str, ...]:
    """Everything that makes the models except whether they are the control, and what they were evaluated on."""
    recipe = {key: str(value) for key, value in condition.first.model.recipe.items() if key != "data.withhold_control"}
    return (str(sorted(recipe.items())), condition.language, condition.first.set, condition.first.digest, condition.first.label)

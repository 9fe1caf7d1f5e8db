"""Figures 2 and 3 and Tables 1, 3 and 4 of Mueller et al. 2020, recomputed from their published values fed in as runs."""

import csv
import itertools
from collections.abc import Mapping
from pathlib import Path
from statistics import mean, stdev

import pytest
from concord.report.conditions import group_by_condition
from concord.report.estimates import Estimates
from concord.report.figures import draw_figure
from concord.report.frame import make_frame
from concord.report.language_tables import COMPLEXITY, language_correlations, language_table
from concord.report.paper_tables import paper_tables
from concord.report.perspective_tables import contract_table
from concord.report.published_values import FILE
from concord.report.results import ModelFacts, Result, Score
from scipy.stats import spearmanr

Values = dict[str, dict[str, float]]  # by language and construction


def published(table: str, model: str, training: str, metric: str = "accuracy") -> Values:
    with FILE.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["source"] == "Mueller et al. 2020" and row["table"] == table]
    found: Values = {}
    for row in rows:
        asked = (row["model"], row["training"], row["metric"]) == (model, training, metric)
        if asked and row["construction"] not in ("", "average"):
            found.setdefault(row["language"], {})[row["construction"]] = float(row["value"])
    return found


def as_runs(values: Values, name: str, perplexities: Mapping[str, float] | None = None, label: str = "default") -> list[Result]:
    return [
        Result(
            name=f"{language}-{name}",
            path=Path(f"{language}-{name}-{label}"),
            kind="evaluation",
            finished=True,
            language=language,
            set="clams",
            digest=f"{language}-{label}",
            sample="none",
            contract={"label": label},
            vocabulary=language,
            model=ModelFacts(name),
            provenance={},
            scores={construction: Score(value, 100) for construction, value in own.items()},
            measures={"test/perplexity": perplexities[language]} if perplexities else {},
        )
        for language, own in values.items()
    ]


def estimates(*runs: list[Result]) -> Estimates:
    return Estimates(group_by_condition([result for some in runs for result in some]))


def rho(found: Estimates, without: str | None = None, what: str = "morphological complexity") -> float:
    return next(each.rho for each in language_correlations(found) if (each.without, each.what) == (without, what))


LSTM = published("1", "LSTM", "monolingual")


def capitalised() -> Values:
    """Hebrew has no capitals."""
    gains = published("4", "LSTM", "monolingual", "accuracy_difference")
    return {
        language: {name: value + gains.get(language, {}).get(name, 0.0) for name, value in own.items()}
        for language, own in LSTM.items()
    }


def test_the_published_coefficients_come_out() -> None:
    lstm = estimates(as_runs(LSTM, "LSTM"))
    assert rho(lstm) == pytest.approx(0.4)
    assert rho(lstm, without="de") == pytest.approx(1.0)
    mbert = estimates(as_runs(published("2", "mBERT", "pretrained"), "mBERT"))
    assert rho(mbert) == pytest.approx(-0.9)
    assert rho(estimates(as_runs(capitalised(), "LSTM"))) == pytest.approx(0.2)


def test_only_this_order_of_languages_gives_all_of_them() -> None:
    """An oracle of its own: the four means by hand, and every order of five languages."""
    mbert = published("2", "mBERT", "pretrained")
    shared = set.intersection(*(set(own) for own in mbert.values()))
    assert len(shared) == 5
    four = [
        ({lang: mean(own.values()) for lang, own in LSTM.items()}, 0.4),
        ({lang: mean(own.values()) for lang, own in LSTM.items() if lang != "de"}, 1.0),
        ({lang: mean(own[name] for name in sorted(shared)) for lang, own in mbert.items()}, -0.9),
        ({lang: mean(own.values()) for lang, own in capitalised().items()}, 0.2),
    ]
    fitting = []
    for order in itertools.permutations(COMPLEXITY):
        found = [spearmanr([order.index(lang) for lang in own], [*own.values()]).statistic for own, _ in four]
        if found == pytest.approx([rho for _, rho in four]):
            fitting.append(list(order))
    assert fitting == [sorted(COMPLEXITY, key=COMPLEXITY.__getitem__)]


def test_perplexity_is_set_against_accuracy_over_languages() -> None:
    with FILE.open(encoding="utf-8", newline="") as stream:
        rows = [r for r in csv.DictReader(stream) if r["source"] == "Mueller et al. 2020" and r["metric"] == "perplexity"]
    own = {row["language"]: float(row["value"]) for row in rows if row["training"] == "monolingual"}
    found = estimates(as_runs(LSTM, "LSTM", own))
    ordered = sorted(own, key=own.__getitem__)
    means = {language: mean(values.values()) for language, values in LSTM.items()}
    ranks = sorted(means, key=means.__getitem__)
    gaps = sum((ordered.index(language) - ranks.index(language)) ** 2 for language in own)
    assert rho(found, what="test perplexity") == pytest.approx(1 - 6 * gaps / (5 * 24))


def test_figure_2_is_mean_and_deviation_over_languages() -> None:
    runs = [as_runs(LSTM, "LSTM"), as_runs(published("2", "mBERT", "pretrained"), "mBERT")]
    grid = language_table(estimates(*runs))
    cells = dict(grid.rows)
    values = [own["prep"] for own in LSTM.values()]
    assert cells["across a prepositional phrase"][0].text == f"{mean(values):.2f} ± {stdev(values):.2f}"
    asked = sum("long_vp_coord" in own for own in published("2", "mBERT", "pretrained").values())
    assert cells["long VP coordination"][1].text.endswith(f"({asked})")
    assert asked < 5
    figure = draw_figure(make_frame(estimates(*runs)), "languages")
    labels = [text.get_text() for text in figure.axes[1].get_legend().get_texts()]
    assert labels[0].startswith("LSTM: ρ = 0.40")
    assert labels[1].startswith("mBERT: ρ = -0.90")


def test_tables_1_and_3_are_their_values() -> None:
    runs = as_runs(LSTM, "LSTM") + as_runs({"en": published("3", "BERT-base", "pretrained")["en"]}, "BERT-base")
    found = estimates(runs)
    for condition in found.conditions:
        own = LSTM[condition.language] if condition.name == "LSTM" else published("3", "BERT-base", "pretrained")["en"]
        assert {name: found.of(condition, name).mean for name in condition.constructions} == pytest.approx(own)
    assert any(grid.rows for grid in paper_tables(found))


def test_table_4_has_a_column_with_the_gain_by_a_capital() -> None:
    some = {"de": capitalised()["de"]}
    lower = {"de": {name: LSTM["de"][name] for name in some["de"]}}
    grid = contract_table(estimates(as_runs(lower, "LSTM"), as_runs(some, "LSTM", label="default+capitalize")))
    assert [head.name for head in grid.heads][2] == "default+capitalize − default"
    gains = published("4", "LSTM", "monolingual", "accuracy_difference")["de"]
    shown = {label: row[2].text for label, row in grid.rows}
    assert shown["across a prepositional phrase"] == f"{gains['prep']:+.2f}"


def test_a_series_without_one_of_the_languages_says_which_it_has() -> None:
    whole, part = ({language: {"prep": 0.5} for language in languages} for languages in (("de", "en", "fr"), ("de", "fr")))
    grid = language_table(estimates(as_runs(whole, "all"), as_runs(part, "some")))
    assert grid is not None
    assert [head.name for head in grid.heads] == ["all (3 languages)", "some (de, fr)"]

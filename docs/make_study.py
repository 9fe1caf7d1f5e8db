"""The numbers and figures of docs/study.md, from the results of its runs.

python docs/make_study.py runs/…      keep what the page needs of these finished runs in docs/study/, beside what is kept already
python docs/make_study.py results/…   the same for evaluations of these runs on the items of others (concord evaluate ckpt_path=…)
python docs/make_study.py             write tables and figures anew from what is kept; a test compares the tables
"""

import json
import math
import re
import sys
from datetime import datetime
from pathlib import Path

import pandas as pd
import yaml
from concord.probes.accuracy import MEAN
from concord.probes.result_files import read_summary
from concord.report import draw, load
from concord.report.figures import save
from concord.report.wording import construction_name, in_paper_order, language_name
from page_tables import fill_page, markdown

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/study.md"
KEPT = ROOT / "docs/study"
SAME = KEPT / "same_items.csv"
IMAGES = ROOT / "docs/images"
SHARED = ("simple_agrmt", "vp_coord", "long_vp_coord", "prep", "subj_rel", "obj_rel_across", "obj_rel_within")
RULES = ("unigram", "bigram", "trigram", "5-gram", "last noun")
FIGURES = ("curves", "phases")
NETWORKS = {"lstm": "LSTM", "transformer": "Transformer"}
BASE = "LSTM, 1 M words"  # what every language has, and what the figures show
DIGITS = 4
PARTS = ("all", "mismatched")  # all items, and those whose attractor has the other number
ITEM = ["language", "digest", "construction", "part"]
EVALUATED = [*ITEM, "run", "condition", "seed", "accuracy", "low", "high", "n", "ties", "uncovered"]


def keep(runs: list[str]) -> None:
    """Every number that is drawn or printed: the frame of the report, and what rules get on the whole sets.

    What is kept of other runs stays, so that a study can grow run by run, on several machines.
    """
    frames, rows = [], []
    for run in map(Path, runs):
        frame = load(run)
        frame = frame[frame.finished & frame.construction.isin([*SHARED, MEAN])].dropna(axis="columns", how="all")
        frames.append(frame.assign(condition=describe_condition(run), hours=wall_hours(run)))
        for final in sorted(run.glob("probes/final-*")):
            language, tables = final.name.split("-")[1], read_summary(final)[0]
            for rule in RULES:
                found = {row.construction: row.all.accuracy for row in tables[rule].rows} | {MEAN: tables[rule].mean.accuracy}
                rows += [
                    {"run": run.name, "language": language, "rule": rule, "construction": name, "accuracy": found[name]}
                    for name in [*SHARED, MEAN]
                    if name in found
                ]
    old_frame, old_rules = read_kept()
    frame = pd.concat([old_frame, *frames])
    frame = frame[~frame.duplicated(["run", "language", "moment", "construction"], keep="last")]
    rules = pd.concat([old_rules, pd.DataFrame(rows)])
    rules = rules[~rules.duplicated(["run", "language", "rule", "construction"], keep="last")]
    frame.round(DIGITS).to_csv(KEPT / "results.csv.gz", index=False, compression={"method": "gzip", "mtime": 0})
    rules.round(DIGITS).to_csv(KEPT / "rules.csv", index=False)


def keep_evaluations(folders: list[str]) -> None:
    """Models on items that are not their own; the digest says whose they are."""
    kept = [read_evaluations()]
    runs = read_kept()[0].drop_duplicates("run").set_index("run")
    for folder in map(Path, folders):
        rows = pd.read_csv(folder / "summary.csv")
        rows["run"] = rows.model.str.rpartition("/")[0]
        rows = rows[rows.construction.isin([*SHARED, MEAN]) & rows.part.isin(PARTS) & rows.run.isin(runs.index)]
        about = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        facts = {name: rows.run.map(runs[name]) for name in ("condition", "seed")}
        kept.append(rows.assign(language=about["language"], digest=about["digest"], **facts)[EVALUATED])
    made = pd.concat(kept)
    made[~made.duplicated([*ITEM, "run"], keep="last")].round(DIGITS).to_csv(SAME, index=False)


def describe_condition(run: Path) -> str:
    """What tells the runs of the study apart, language and seed aside."""
    settings = yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))
    size = f"{settings['data']['max_tokens'] / 1_000_000:g} M words"
    languages = settings["lang"].get("languages", ())
    together = f", {' and '.join(language_name(code) for code in languages)} together" if languages else ""
    return f"{NETWORKS[settings['model']['name']]}, {size}{together}"


def wall_hours(run: Path) -> float:
    """From the first line of the log to the last."""
    times = re.findall(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", (run / "train.log").read_text(encoding="utf-8"), flags=re.MULTILINE)
    first, last = (datetime.fromisoformat(time) for time in (times[0], times[-1]))
    return (last - first).total_seconds() / 3600


def read_kept() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The frame, and what rules get."""
    return pd.read_csv(KEPT / "results.csv.gz", low_memory=False, keep_default_na=True), pd.read_csv(KEPT / "rules.csv")


def read_evaluations() -> pd.DataFrame:
    """One row per model, construction and part of its items."""
    return pd.read_csv(SAME)


def tables() -> dict[str, str]:
    """In Markdown, by the names of their places in the page."""
    frame, rules = read_kept()
    final = frame[frame.moment == "final"]
    same = final[final.condition == BASE]
    return {
        "accuracy": _accuracy(same, rules),
        "models": _models(final, rules),
        "whole": _whole(same, rules),
        "same": _same_items(on_same_items(final, read_evaluations())),
    }


def _languages(final: pd.DataFrame) -> list[str]:
    """From the language that is learnt best to the one that is learnt least."""
    means = final[final.construction == MEAN].groupby("language").accuracy.mean()
    return means.sort_values(ascending=False).index.tolist()


def _rule_lines(rules: pd.DataFrame, own: pd.DataFrame) -> pd.DataFrame:
    """What rules get on the items that these runs were asked."""
    return rules[rules.run.isin(own.run) & rules.language.isin(own.language) & rules.construction.isin(own.construction)]


def _accuracy(final: pd.DataFrame, rules: pd.DataFrame) -> str:
    languages = _languages(final)
    rows = []
    for name in [*in_paper_order(list(SHARED)), MEAN]:
        cells = []
        for language in languages:
            own = final[(final.construction == name) & (final.language == language)]
            lines = _rule_lines(rules, own)
            cells.append(f"{own.accuracy.mean():.2f} ({lines[lines.rule == 'trigram'].accuracy.mean():.2f})" if len(own) else "–")
        label = "**mean**" if name == MEAN else construction_name(name)
        rows.append([label, *cells])
    return markdown(["", *map(language_name, languages)], rows)


def _models(final: pd.DataFrame, rules: pd.DataFrame) -> str:
    """One row per language and condition."""
    rows = []
    for condition in _conditions(final):
        of_condition = final[final.condition == condition]
        for language in _languages(of_condition):
            parts = of_condition[(of_condition.language == language) & of_condition.construction.isin(SHARED)]
            own = of_condition[(of_condition.language == language) & (of_condition.construction == MEAN)]
            lines = _rule_lines(rules, own)
            line = lines[lines.rule == "trigram"].accuracy.mean()
            figures = [f"{each:.2f}" for each in (own.accuracy.mean(), line, parts.matched.mean(), parts.mismatched.mean())]
            hours = own.hours.mean()
            rows.append(
                [
                    language_name(language),
                    condition,
                    str(own.seed.nunique()),
                    f"{int(own.words.mean()):,}",
                    f"{own.perplexity.mean():.1f}",
                    *figures,
                    "–" if math.isnan(hours) else f"{hours:.1f}",
                ]
            )
    heads = ["", "model", "seeds", "words read", "test perplexity", "mean accuracy", "trigram"]
    return markdown([*heads, "attractor of the same number", "of the other number", "wall hours"], rows)


def _conditions(final: pd.DataFrame) -> list[str]:
    """That of all languages first."""
    return [BASE, *sorted(set(final.condition) - {BASE})]


def on_same_items(final: pd.DataFrame, evaluated: pd.DataFrame) -> pd.DataFrame:
    """Evaluations, beside the results of the runs whose own items these are."""
    own = final[final.digest.isin(evaluated.digest)]
    other_number = own[own.mismatched.notna()]
    other_number = other_number.assign(accuracy=other_number.mismatched, low=math.nan, high=math.nan)
    parts = [rows.assign(part=part)[EVALUATED] for part, rows in zip(PARTS, (own, other_number), strict=True)]
    made = pd.concat([*parts, evaluated])
    return made[~made.duplicated([*ITEM, "run"])]


def _same_items(rows: pd.DataFrame) -> str:
    """For each language, one column per model: accuracy and interval, and where the attractor has the other number."""
    made = []
    for language in sorted(set(rows.language), key=language_name):
        own = rows[rows.language == language]
        assert own.digest.nunique() == 1, "these are not the same items"
        order = {condition: number for number, condition in enumerate(_conditions(own))}
        models = sorted(own.drop_duplicates("run").itertuples(), key=lambda model: (order[model.condition], model.seed))
        heads = [f"{model.condition} (seed {model.seed})" for model in models]
        lines = []
        for name in [*in_paper_order(list(SHARED)), MEAN]:
            of_name = own[own.construction == name].set_index(["part", "run"])
            cells = [_with_interval(of_name, model.run) for model in models]
            asked = of_name.loc["all"]
            count = (asked.n + asked.uncovered.fillna(0)).max()
            label = "**mean**" if name == MEAN else construction_name(name)
            lines.append([label, "–" if math.isnan(count) else f"{int(count):,}", *cells])
        made.append(markdown([language_name(language), "items", *heads], lines))
    return "\n\n".join(made)


def _with_interval(rows: pd.DataFrame, run: str) -> str:
    whole = rows.loc[("all", run)]
    told = f"{whole.accuracy:.2f}" + ("" if math.isnan(whole.low) else f" [{whole.low:.2f}, {whole.high:.2f}]")
    told += f" ({rows.loc[('mismatched', run)].accuracy:.2f})" if ("mismatched", run) in rows.index else ""
    return told + (f", {int(whole.uncovered):,} uncovered" if whole.uncovered > 0 else "")


def _whole(final: pd.DataFrame, rules: pd.DataFrame) -> str:
    """One row per run and construction."""
    rows = []
    for language in _languages(final):
        own = final[final.language == language]
        for seed in sorted(own.seed.unique()):
            of_seed = own[own.seed == seed].set_index("construction")
            for name in (each for each in in_paper_order(list(SHARED)) if each in of_seed.index):
                one = of_seed.loc[name]
                lines = rules[(rules.run == one.run) & (rules.language == language) & (rules.construction == name)]
                told = lines.set_index("rule").accuracy
                cells = [f"{one.accuracy:.2f}", f"{one.low:.2f}–{one.high:.2f}", f"{int(one.n):,}", f"{int(one.ties)}"]
                cells += [f"{int(one.uncovered)}", *(f"{told[rule]:.2f}" if rule in told else "–" for rule in RULES)]
                rows.append([language_name(language), str(seed), construction_name(name), *cells])
    return markdown(["language", "seed", "construction", "accuracy", "95 %", "n", "ties", "uncovered", *RULES], rows)


def filled(page: str) -> str:
    """The page with today's tables between its marks."""
    return fill_page(page, tables())


def draw_figures(folder: Path) -> list[Path]:
    frame = read_kept()[0]
    frame = frame[frame.condition == BASE]
    return [save(draw(frame, kind), folder / f"study-{kind}.svg") for kind in FIGURES]


if __name__ == "__main__":
    evaluations = [folder for folder in sys.argv[1:] if (Path(folder) / "summary.json").exists()]
    if runs := [folder for folder in sys.argv[1:] if folder not in evaluations]:
        keep(runs)
    if evaluations:
        keep_evaluations(evaluations)
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    draw_figures(IMAGES)

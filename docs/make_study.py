"""The numbers and figures of docs/study.md, from the results of its runs.

python docs/make_study.py runs/…    keep what the page needs of finished runs, in docs/study/
python docs/make_study.py           write tables and figures anew from what is kept; a test compares the tables
"""

import re
import sys
from pathlib import Path

import pandas as pd
from concord.probes.accuracy import MEAN
from concord.probes.result_files import read_summary
from concord.report import draw, load
from concord.report.figures import save
from concord.report.wording import construction_name, in_paper_order, language_name

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/study.md"
KEPT = ROOT / "docs/study"
IMAGES = ROOT / "docs/images"
SHARED = ("simple_agrmt", "vp_coord", "long_vp_coord", "prep", "subj_rel", "obj_rel_across", "obj_rel_within")
RULES = ("unigram", "bigram", "trigram", "5-gram", "last noun")
FIGURES = ("curves", "phases")
DIGITS = 4


def keep(runs: list[str]) -> None:
    """Every number that is drawn or printed: the frame of the report, and what rules get on the whole sets."""
    frame = load(*runs)
    frame = frame[frame.finished & frame.construction.isin([*SHARED, MEAN])].dropna(axis="columns", how="all")
    KEPT.mkdir(exist_ok=True)
    frame.round(DIGITS).to_csv(KEPT / "results.csv.gz", index=False, compression={"method": "gzip", "mtime": 0})
    rows = []
    for final in sorted(final for run in runs for final in Path(run).glob("probes/final-*")):
        language, tables = final.name.split("-")[1], read_summary(final)[0]
        for rule in RULES:
            found = {row.construction: row.all.accuracy for row in tables[rule].rows} | {MEAN: tables[rule].mean.accuracy}
            rows += [
                {"language": language, "rule": rule, "construction": name, "accuracy": found[name]}
                for name in [*SHARED, MEAN]
                if name in found
            ]
    pd.DataFrame(rows).round(DIGITS).to_csv(KEPT / "rules.csv", index=False)


def read_kept() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The frame, and what rules get."""
    return pd.read_csv(KEPT / "results.csv.gz", low_memory=False, keep_default_na=True), pd.read_csv(KEPT / "rules.csv")


def tables() -> dict[str, str]:
    """In Markdown, by the names of their places in the page."""
    frame, rules = read_kept()
    final = frame[frame.moment == "final"]
    return {"accuracy": _accuracy(final, rules), "models": _models(final, rules), "whole": _whole(final, rules)}


def _languages(final: pd.DataFrame) -> list[str]:
    """From the language that is learnt best to the one that is learnt least."""
    means = final[final.construction == MEAN].groupby("language").accuracy.mean()
    return means.sort_values(ascending=False).index.tolist()


def _accuracy(final: pd.DataFrame, rules: pd.DataFrame) -> str:
    languages = _languages(final)
    rows = []
    for name in [*in_paper_order(list(SHARED)), MEAN]:
        cells = []
        for language in languages:
            own = final[(final.construction == name) & (final.language == language)].accuracy
            line = rules[(rules.rule == "trigram") & (rules.construction == name) & (rules.language == language)].accuracy
            cells.append(f"{own.mean():.2f} ({line.mean():.2f})" if len(own) else "–")
        label = "**mean**" if name == MEAN else construction_name(name)
        rows.append([label, *cells])
    return _markdown(["", *map(language_name, languages)], rows)


def _models(final: pd.DataFrame, rules: pd.DataFrame) -> str:
    rows = []
    for language in _languages(final):
        own = final[(final.language == language) & (final.construction == MEAN)].iloc[0]
        parts = final[(final.language == language) & final.construction.isin(SHARED)]
        line = rules[(rules.rule == "trigram") & (rules.construction == MEAN) & (rules.language == language)].accuracy.iloc[0]
        figures = [f"{each:.2f}" for each in (own.accuracy, line, parts.matched.mean(), parts.mismatched.mean())]
        rows.append([language_name(language), f"{int(own.words):,}", f"{own.perplexity:.1f}", *figures])
    return _markdown(
        ["", "words read", "test perplexity", "mean accuracy", "trigram", "attractor of the same number", "of the other number"],
        rows,
    )


def _whole(final: pd.DataFrame, rules: pd.DataFrame) -> str:
    rows = []
    for language in _languages(final):
        for name in in_paper_order(list(SHARED)):
            own = final[(final.construction == name) & (final.language == language)]
            if own.empty:
                continue
            one = own.iloc[0]
            lines = rules[(rules.construction == name) & (rules.language == language)].set_index("rule").accuracy
            cells = [
                f"{one.accuracy:.2f}",
                f"{one.low:.2f}–{one.high:.2f}",
                f"{int(one.n):,}",
                f"{int(one.ties)}",
                f"{int(one.uncovered)}",
            ]
            rows.append(
                [
                    language_name(language),
                    construction_name(name),
                    *cells,
                    *(f"{lines[rule]:.2f}" if rule in lines else "–" for rule in RULES),
                ]
            )
    return _markdown(["language", "construction", "accuracy", "95 %", "n", "ties", "uncovered", *RULES], rows)


def _markdown(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def filled(page: str) -> str:
    """The page with today's tables between its marks."""
    for name, text in tables().items():
        page, found = re.subn(
            rf"(<!-- table: {name} -->\n).*?(\n<!-- end -->)", lambda m, text=text: m[1] + text + m[2], page, flags=re.DOTALL
        )
        assert found == 1, name
    return page


def draw_figures(folder: Path) -> list[Path]:
    frame = read_kept()[0]
    return [save(draw(frame, kind), folder / f"study-{kind}.svg") for kind in FIGURES]


if __name__ == "__main__":
    if sys.argv[1:]:
        keep(sys.argv[1:])
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    draw_figures(IMAGES)

"""docs/reference.md: every setting with its default and what stands beside it in conf/, every metric, every file of a run.

`make docs` writes it; a test compares it with what is there.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/reference.md"
LINE = re.compile(r"(?P<indent> *)(?P<key>[\w.]+):(?P<value>(?: (?:[^#\"]|\"[^\"]*\"|(?<! )#)*)?)(?:# (?P<comment>.*))?$")
PRESETS = ("hydra", "experiment", "hparams_search", "debug", "lang")  # they set settings of other groups, or are files to copy
LEFT_OUT = ("hydra", "defaults")  # the page of `--help`, and which file of a group is the default

# In this order: the first pattern that fits a column says what it is.
METRICS = {
    "step": "steps of the optimiser so far",
    "progress/epoch": "the current epoch, counted from 0; after training, the number of epochs",
    "progress/words_seen": "words that the model has been trained on; the x-axis of curves",
    "progress/learning_rate": "learning rate of the next step",
    "train/loss": "nats per token, mean over the steps since the last row",
    "valid/loss": "nats per token on the validation text",
    "valid/perplexity": "exp of valid/loss",
    "test/loss": "nats per token on the test text, with the best weights",
    "test/perplexity": "exp of test/loss",
    "{valid,test}/<lang>/perplexity": "with lang=multi: perplexity on the text of one language",
    "{valid,test}/…perplexity_word": "with word pieces: exp of nats per word",
    "time/words_per_second": "training speed since the last row",
    "time/probe_seconds": "how long this probe took",
    "probe/<lang>/<set>/mean/accuracy": "unweighted mean over constructions: the seven of CLAMS if they are among those tested, otherwise all",
    "probe/<lang>/<set>/<construction>/accuracy": "share of items on which the good form wins; the contract says what ties count as",
    "probe/<lang>/<set>/<construction>/accuracy_dev": "accuracy on the verbs set aside for model selection",
    "probe/<lang>/<set>/<construction>/n": "number of items scored",
    "probe/<lang>/<set>/<construction>/ties": "how many of these have equal scores",
    "probe/<lang>/<set>/<construction>/uncovered": "number of items not scored because a tested word is unknown",
    "probe/<lang>/<set>/<construction>/chance": "accuracy of a model that guesses, if it is not ½",
    "probe/<lang>/<set>/<construction>/margin": "for suites: mean margin of the predictions, in bits",
    "probe/<lang>/<set>/<construction>/agrees_<rule>": "share of items on which the model prefers what a surface rule or an n-gram model prefers",
    "probe/<lang>/<set>/<construction>/contradicted_<rule>": "number of items on which the rule is wrong",
    "probe/<lang>/<set>/<construction>/misled_<rule>": "share of these on which the model follows the rule",
    "probe/<lang>/<set>/<construction>/helped_<rule>": "accuracy on the items on which the rule is right",
    "probe/<lang>/<set>/<construction>/rho_<rule>": "rank correlation of the model's preferences with those of an n-gram model",
    "probe/<lang>/<set>/<construction>/<group>": "accuracy on a group of items: `matched`, `ss`, `group_4`, `mood=calm` …",
    "test/probe/…": "the same after training, on the whole sets, with the best weights",
}

FILES = {
    "config.yaml": "all settings, as they were used",
    "provenance.json": "the corpus; what `auto` settings stood for; for every start of the run: time, command, versions, machine",
    "metrics.csv": "every number of the run, one row per event",
    "train.log": "what the screen showed",
    "checkpoints/best.ckpt": "the weights with the best validation perplexity (or whatever `callbacks.checkpoints.monitor` says)",
    "checkpoints/last.ckpt": "weights and the complete training state, to resume from",
    "checkpoints/words-<words>.ckpt": "with `callbacks.checkpoints.at_words`: a checkpoint after this many words",
    "probes/<lang>-<set>-step<step>.parquet": "every verdict of one probe",
    "probes/<lang>-<set>-sample.parquet": "the sample of items used while the model learns, with what every surface rule and n-gram model prefers",
    "probes/final-<lang>-<set>/items.parquet": "every item of the whole sets: sentences, features, score of every word, verdict",
    "probes/final-<lang>-<set>/predictions.json": "with probes.protocol=babylm: the preferred sentence of every pair, in BabyLM's format",
    "probes/final-<lang>-<set>/regions.parquet": "for suites: one row per region",
    "probes/final-<lang>-<set>/summary.json": "tables for the model and the reference lines, with the contract",
    "probes/final-<lang>-<set>/summary.csv": "the same as a table",
    "probes/final-<lang>-<set>/summary.md": "the same as readable text",
    "probes/leakage-<lang>-<set>.tsv": "challenge sentences, and tested words with the two words before them, that occur in the training text",
    "probes/lexicon-<lang>-<set>.tsv": "the words considered for fitted sets: chosen or not, and why",
    "report.html": "the report of this run, one page that opens offline",
    "DONE": "the final numbers; a run without this file is not finished",
}


class Setting(NamedTuple):
    """`group.key`, its default, and the comment beside it."""

    name: str
    default: str
    comment: str


def settings_of(file: Path, prefix: str = "") -> Iterator[Setting]:
    """Settings of one YAML file, nested ones by dotted names."""
    inside: list[tuple[int, str]] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if not (found := LINE.match(line)):
            continue
        depth = len(found["indent"])
        inside = [*((at, name) for at, name in inside if at < depth), (depth, found["key"])]
        if inside[0][1] in LEFT_OUT:
            continue
        name, value = ".".join([*([prefix] if prefix else []), *(key for _, key in inside)]), found["value"].strip()
        if value or found["comment"]:
            yield Setting(name, value, found["comment"] or "")


def groups() -> Iterator[tuple[str, Path]]:
    """Files of conf/ that a user picks from, the default of each group first."""
    chosen = dict(re.findall(r"^ +- (\w+): (\w+)", (ROOT / "conf/train.yaml").read_text(encoding="utf-8"), re.MULTILINE))
    files = [(str(file.parent.relative_to(ROOT / "conf")), file) for file in (ROOT / "conf").rglob("*.yaml")]
    shown = [(group, file) for group, file in files if group != "." and group.split("/")[0] not in PRESETS]
    return iter(sorted(shown, key=lambda each: (each[0], chosen.get(each[0]) != each[1].stem, each[1].stem)))


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def table(heads: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    return "\n".join([*lines, *(f"| {' | '.join(map(cell, row))} |" for row in rows)])


def setting_rows(settings: Iterator[Setting], known: set[Setting]) -> Iterator[tuple[str, ...]]:
    """Without what another file of the group has said already: the same default with the same comment, or with none."""
    for setting in settings:
        listed = {(each.name, each.default) for each in known}
        if setting not in known and (setting.comment or (setting.name, setting.default) not in listed):
            known.add(setting)
            yield f"`{setting.name}`", f"`{setting.default}`" if setting.default else "", setting.comment


def reference() -> str:
    parts = [
        "# Reference",
        "<!-- Written by `make docs` from conf/ and docs/make_reference.py. Do not edit. -->",
        "This page lists the settings with their defaults, the metrics, and the files of a run. Where several choices of a group share a setting, it is listed once.\nTo see all settings that a command would use, add `--cfg job`:\n`concord train lang=fr --cfg job`.",
        "## Settings",
    ]
    for name in ("train", "evaluate"):
        rows = setting_rows(settings_of(ROOT / f"conf/{name}.yaml"), set())
        parts += [f"### concord {name}", table(("setting", "default", "meaning"), rows)]
    said: dict[str, set[Setting]] = {}
    for group, file in groups():
        prefix = group.replace("/", ".")
        rows = list(setting_rows(settings_of(file, prefix), said.setdefault(group, set())))
        if rows:
            parts += [f"### {group}={file.stem}", table(("setting", "default", "meaning"), iter(rows))]
    parts += [
        "## Metrics",
        "These are the columns of `metrics.csv`; W&B and TensorBoard show the same. `<set>` is the name of the collection, for instance `agreement`.",
    ]
    parts += [table(("metric", "meaning"), ((f"`{name}`", meaning) for name, meaning in METRICS.items()))]
    parts += ["## Files of a run", table(("file", "what it holds"), ((f"`{name}`", meaning) for name, meaning in FILES.items()))]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
    print(PAGE)

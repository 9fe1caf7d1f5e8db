"""Every kind of file that Concord reads: a sample of it, and how it is read. What a reader returns can be compared."""

import gzip
import json
import lzma
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from concord.data.conllu import TreebankText
from concord.data.corpus import VocabularyRule, prepare, read_corpus
from concord.data.grammar import folder_of
from concord.data.sources import GrammarSource
from concord.data.text import RawText, TokenizedText, sentences
from concord.data.tokens import TokenRule
from concord.data.wikipedia import LocalArticles
from concord.lm.checkpoints import load_model
from concord.probes.cache import read_cached
from concord.probes.readers import reader
from concord.probes.verdict_files import read_checked
from concord.report.gathering import gather_results
from concord.report.left_out import UNREADABLE, first_line
from concord.runs.metrics_file import must_hold
from concord.runs.run_folder import RunFolder
from concord.runs.run_overview import describe_run
from concord.settings.languages import read_language
from pyarrow import parquet
from set_files import FILES, OWN_LINES, write

from . import ROOT

BEFORE = ROOT / "tests/fixtures/before"
TEXT = "Der Gast lacht. Die Gäste hinter dem Haus lachen!\nEr sah 3,5 Meter; »gut«, sagte sie.\n"
TREES = (
    "# sent_id = 1\n# text = zum Haus\n1-2\tzum\t_\t_\t_\t_\t_\t_\t_\t_\n1\tzu\tzu\tADP\t_\tCase=Dat\t3\tcase\t_\t_\n"
    "2\tdem\tder\tDET\t_\t_\t3\tdet\t_\t_\n3\tHaus\tHaus\tNOUN\t_\tNumber=Sing\t0\troot\t_\tSpaceAfter=No\n3.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
)
ARTICLES = [{"title": "a", "text": "Der Gast lacht.\n\nEr schläft."}, {"title": "b", "text": "Die Gäste lachen."}]


class Format(NamedTuple):
    """`sample` writes a file into a folder and returns it; `read` reads the file as a command would."""

    sample: Callable[[Path], Path]
    read: Callable[[Path], Any]
    checked: bool = False  # it has checksums: altered content must never be read without an error


def _bytes(name: str, content: bytes) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / name).write_bytes(content)
        return folder / name

    return write


def _read_set(form: str, file: Path) -> list[int]:
    return [len(made) for made in reader(form).read(file, "de")]


def _set(form: str, name: str, content: bytes) -> Format:
    return Format(_bytes(name, content), partial(_read_set, form))


def _text(name: str, content: bytes, read: Any) -> Format:
    return Format(_bytes(name, content), lambda file: list(sentences(file, read)))


def _articles(folder: Path) -> Path:
    parquet.write_table(pa.Table.from_pylist(ARTICLES), folder / "a.parquet")
    return folder / "a.parquet"


def _corpus(part: str) -> Format:
    def write(folder: Path) -> Path:
        source = GrammarSource(folder_of("de"), {"train": 90, "valid": 20, "test": 20}, seed=0)
        prepare(source, VocabularyRule(None), folder / "cache")
        return next((folder / "cache").glob(f"*/{part}"))

    def read(file: Path) -> Any:
        made = read_corpus(file.parent)
        return [split.ids.tolist() for split in made.splits().values()], made.vocabulary.words, made.read, made.report

    return Format(write, read, checked=True)


def _checkpoint(file: Path) -> Any:
    model, tokenizer, about = load_model(file)
    return {name: value.tolist() for name, value in model.state_dict().items()}, tokenizer.words, about


def _cached(folder: Path) -> Path:
    (folder / "set.tsv").write_bytes(FILES["own"][1])
    read_cached(folder / "set.tsv", "de", "own", folder / "cache")
    return next((folder / "cache").glob("*.json"))


def _read_cached(file: Path) -> Any:
    (made,) = read_cached(file.parent.parent / "set.tsv", "de", "own", file.parent)
    return made.construction, made.sentences, made.roles, made.spans, made.features, made.contrasts


def _run(part: str, run: str = "lstm") -> Format:
    def write(folder: Path) -> Path:
        without = shutil.ignore_patterns("*.parquet", "*.ckpt")  # rebuilt for every damaged file, they would take hours
        return Path(shutil.copytree(BEFORE / "runs" / run, folder / "runs/lstm", ignore=without)) / part

    def read(file: Path) -> Any:
        folder = file.parent if part.count("/") == 0 else file.parents[part.count("/")]
        told = describe_run(RunFolder(folder))
        json.dumps(told)
        gathered = gather_results([folder.parent])
        if part == "metrics.csv":
            must_hold(file, 75)
        return told["state"], len(gathered.results)

    return Format(write, read)


def _evaluation(folder: Path) -> Path:
    return Path(shutil.copytree(BEFORE / "results/several", folder / "results")) / "summary.json"


def _verdicts(folder: Path) -> Path:
    from concord.probes import verdict_files

    verdict_files.write_table(
        folder / "a.parquet", parquet.read_table(BEFORE / "results/several/items-lstm-best.parquet"), {"digest": "a"}
    )
    return folder / "a.parquet"


def _read_verdicts(file: Path) -> Any:
    try:
        read_checked(file)
    except UNREADABLE as error:  # a report lists it among what it left out
        raise Told(first_line(error)) from None
    table = parquet.read_table(file)
    return table.to_pylist(), table.schema.metadata[b"concord"]


class Told(ValueError):
    """Stands for a line that a report prints."""


def _pretrained(part: str) -> Format:
    def write(folder: Path) -> Path:
        from pretrained_models import save

        return Path(save("bert", folder / "model")) / part

    def read(file: Path) -> Any:
        from concord.probes.scorers.pretrained import load

        return load(str(file.parent)).kind

    return Format(write, read)


RULE = TokenRule(read_language("de").tokens, read_language("de").replace)
FORMATS: dict[str, Format] = {
    **{f"set: {form}": Format(partial(write, form=form), partial(_read_set, form)) for form in FILES},
    "set: own lines": _set("own", "mine.jsonl", OWN_LINES.encode()),
    "text: raw": _text("a.txt", TEXT.encode(), RawText("de", RULE)),
    "text: tokens": _text("a.txt", TEXT.encode(), TokenizedText()),
    "text: gzip": _text("a.txt.gz", gzip.compress(TEXT.encode(), mtime=0), TokenizedText()),
    "text: xz": _text("a.txt.xz", lzma.compress(TEXT.encode()), TokenizedText()),
    "treebank": _text("a.conllu", TREES.encode(), TreebankText("surface")),
    "articles: Parquet": Format(_articles, lambda file: list(LocalArticles((file,)))),
    "articles: lines": Format(
        _bytes("a.jsonl", "".join(json.dumps(each) + "\n" for each in ARTICLES).encode()),
        lambda file: list(LocalArticles((file,))),
    ),
    "checkpoint: LSTM": Format(
        lambda folder: Path(shutil.copy(BEFORE / "models/grammar-de.ckpt", folder)), _checkpoint, checked=True
    ),
    "corpus: ids": _corpus("train.ids.npy"),
    "corpus: about": _corpus("about.json"),
    "corpus: words": _corpus("vocabulary.txt"),
    "cached set": Format(_cached, _read_cached, checked=True),
    "verdicts": Format(_verdicts, _read_verdicts, checked=True),
    "run: config.yaml": _run("config.yaml"),
    "run: provenance.json": _run("provenance.json"),
    "run: DONE": _run("DONE"),
    "run: metrics.csv": _run("metrics.csv"),
    "run: summary.json": _run("probes/final-de-agreement/summary.json"),
    "evaluation": Format(_evaluation, lambda file: len(gather_results([file.parent]).results)),
    "model of the hub: config.json": _pretrained("config.json"),
    "model of the hub: weights": _pretrained("model.safetensors"),
}

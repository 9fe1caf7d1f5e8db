"""Commands as the documents show them: found, filled in, and run one after the other in a folder.

Three things are done to a command, and no others: `…` is filled in with what the folder has, published sets are read from
small files of the same format, and settings that make it small are appended. Everything that a page names (texts, tables,
treebanks, models) is made by `write_files`, under the name that the page gives it.
"""

import json
import lzma
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pretrained_models
import set_files

ROOT = Path(__file__).resolve().parents[1]
# What makes a command small. The first words of a command choose the row.
SMALL = {
    "concord train": [
        "debug=fast",
        "data.limit=240",
        "data.workers=1",
        "trainer.max_epochs=1",
        "trainer.threads=1",
        "trainer.accelerator=cpu",
        "probes.limit=8",
        "probes.schedule.epochs=[0]",
    ],
    "concord evaluate": ["probes.limit=8"],
    "concord report": ["--no-figures"],
}
PUBLISHED = {
    "blimp": "blimp",
    "clams": "clams",
    "gevalm": "gevalm",
    "marvin_linzen": "marvin_linzen",
    "multiblimp": "multiblimp",
    "syntaxgym": "syntaxgym",
}
CLAMS = ("en", "fr", "de", "he", "ru")
MODELS = {
    "gpt2": "gpt2",
    "bert-base-uncased": "bert",
    "bert-base-multilingual-cased": "bert",
    "deepset/gbert-large": "bert",
    "xlm-roberta-base": "bert",
}
# Loads what every command loads, then forks for each, so that starting one takes no seconds.
SERVER = """
import json, os, sys, traceback
from concord.lm.fast_import import import_lightning
import_lightning()
import pytorch_lightning, transformers, pyarrow, scipy.stats, hydra
from concord.commands import program
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if child == 0:
        os.chdir(asked["folder"])
        out = os.open(asked["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1), os.dup2(out, 2)
        sys.argv = asked["argv"]
        status = 0
        try:
            program.main()
        except SystemExit as leaving:
            status = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
        except BaseException:
            traceback.print_exc()
            status = 1
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(status)
    _, status, used = os.wait4(child, 0)
    print(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, flush=True)
"""


def commands(document: str, inline: bool = False) -> list[str]:
    """Every `concord …` of the fenced blocks of a document, without comments; with `inline`, of its sentences and tables too."""
    text = (ROOT / document).read_text(encoding="utf-8")
    fenced = re.findall(r"^ *```(\w*)\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)
    blocks = [block for language, block in fenced if language in ("", "bash")]
    lines = [line.strip() for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    if inline:
        prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL)
        lines += [" ".join(found.split()) for found in re.findall(r"`([^`]*)`", prose)]
    return [re.sub(r"\s+#.*$", "", line) for line in lines if line.startswith("concord ")]


@dataclass
class Journey:
    """A folder in which commands are run, one after the other; `seconds` of processor that each has taken."""

    folder: Path
    server: subprocess.Popen
    corpora: str  # where the corpora of CLAMS are fetched from
    seconds: dict[str, float] = field(default_factory=dict)

    def run(self, command: str) -> str:
        """What it printed; an error if it failed."""
        out = self.folder / "screen.txt"
        if "model.path=losses.tsv" in command:
            write_losses(self.folder)
        words = [*expand(shlex.split(first_job(self.filled(command))), self.folder), *self.appended(command)]
        asked = {"argv": words, "out": str(out), "folder": str(self.folder)}
        self.server.stdin.write(json.dumps(asked) + "\n")
        self.server.stdin.flush()
        status, seconds = self.server.stdout.readline().split()
        self.seconds[command] = float(seconds)
        screen = out.read_text(encoding="utf-8")
        assert status == "0", f"{command}\n{shlex.join(words)}\n{screen[-3000:]}"
        return screen

    def appended(self, command: str) -> list[str]:
        small = [setting for begin, settings in SMALL.items() if command.startswith(begin) for setting in settings]
        small = [setting for setting in small if "debug=" not in command or not setting.startswith("debug=")]
        named = re.search(r" probes=(\w+)", command)
        if named and named[1] in PUBLISHED and "probes.path=" not in command:
            small.append(f"probes.path=published/{named[1]}")
        if "experiment=clams2020" in command:
            small += [f"data.address.{lang}={self.corpora}/{lang}_" for lang in CLAMS]
        return small

    def filled(self, command: str) -> str:
        """`…` is what the folder has: the newest run or result, a text, the settings of the training before."""
        run = self.newest("runs/*/config.yaml", "runs/none").parent
        result = self.newest("results/*/summary.json", "results/none").parent
        for written, meant in {
            "runs/…": str(run),
            "results/…": str(result),
            "ckpt_path=…": f"ckpt_path={run}/checkpoints/best.ckpt",
            "data.path=…": "data.path=french.txt",
            "concord report …": "concord report runs",
            "train … ": "train lang=fr model=transformer ",
            "[…/A.words.tsv,…/B.words.tsv]": "[a.words.tsv,b.words.tsv]",
        }.items():
            command = command.replace(written, meant)
        assert "…" not in command, command
        return command

    def newest(self, pattern: str, otherwise: str) -> Path:
        found = sorted(self.folder.glob(pattern), key=lambda file: file.stat().st_mtime)
        return found[-1].relative_to(self.folder) if found else Path(otherwise)


def first_job(command: str) -> str:
    """Of a sweep one job is enough: `lang=de,fr seed=1,2,3` is `lang=de seed=1`."""
    if " -m " not in command:
        return command
    return " ".join(word if "[" in word else word.split(",")[0] for word in command.split(" "))


def expand(words: list[str], folder: Path) -> list[str]:
    """`*.conllu` as a shell would; settings are Concord's own to expand."""
    found = {word: sorted(str(file.relative_to(folder)) for file in folder.glob(word)) for word in words if "*" in word}
    return [each for word in words for each in (found.get(word) or [word])]


@contextmanager
def command_server(home: Path) -> Iterator[subprocess.Popen]:
    """A process in which commands start quickly. Nothing but this machine is in its reach."""
    nowhere = "http://127.0.0.1:9"
    own = {"CONCORD_CACHE": str(home / ".cache"), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    own |= {"CONCORD_GITHUB": nowhere, "HF_ENDPOINT": nowhere, "COLUMNS": "120"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-P", "-c", SERVER], cwd=home, env=os.environ | own, **pipes) as server:
        yield server
        server.stdin.close()


def clams_corpora() -> dict[str, bytes]:
    """Files of the published shape, by their place on a server."""
    text = "".join(f"the author {verb} . <eos>\nThe authors <unk> . <eos>\n" for verb in ("laughs", "laugh") * 30)
    names = {"train.txt": text, "valid.txt": text, "test.txt": text, "vocab.txt": "\n".join(sorted(set(text.split())))}
    return {f"/{lang}_{name}": content.encode() for lang in CLAMS for name, content in names.items()}


def write_files(folder: Path) -> None:
    """Texts, tables, treebanks, sets and models, under the names that the pages give them."""
    _write_texts(folder)
    _write_tables(folder)
    shutil.copytree(ROOT / "patterns", folder / "patterns")
    for name in ("de_gsd-ud-train.conllu", "fr_novel.conllu", "fr.conllu"):
        shutil.copy(ROOT / "patterns/fr/sample.conllu", folder / name)
    _write_treebank(folder)
    (folder / "suites/mine").mkdir(parents=True)
    page = re.search(r"```\n(name: sva_pp\n.*?)```", (ROOT / "docs/suites.md").read_text(encoding="utf-8"), re.DOTALL)
    (folder / "suites/mine/sva_pp.suite").write_text(page[1], encoding="utf-8")
    grammars = (ROOT / "grammars/README.md").read_text(encoding="utf-8")
    (folder / "mine").mkdir()
    for name, content in re.findall(r"^`(mine/[^`]+)`:\n```\n(.*?)^```$", grammars, re.MULTILINE | re.DOTALL):
        (folder / name).write_text(content, encoding="utf-8")
    for name, form in PUBLISHED.items():
        (folder / "published" / name).mkdir(parents=True)
        set_files.write(folder / "published" / name, form)
    # In words that the corpora and the models of these tests know.
    pairs = "True\tthe author laughs\nFalse\tthe author laugh\nTrue\tthe authors laugh\nFalse\tthe authors laughs\n"
    (folder / "published/clams/simple.txt").write_text(pairs, encoding="utf-8")
    (folder / "clams/fr_evalset").mkdir(parents=True)
    pairs = "True\tder Gast wartet\nFalse\tder Gast warten\nTrue\tdie Gäste warten\nFalse\tdie Gäste wartet\n"
    (folder / "clams/fr_evalset/simple.txt").write_text(pairs, encoding="utf-8")
    masked = {"text": "the author laughs .", "text_masked": "the author [MASK] .", "candidates": ["laughs", "laugh"]}
    row = json.dumps({**masked, "indexMASK": 3, "case": "SVPP_sgsg"}) + "\n"
    (folder / "published/gevalm/SVPP_sgpl.jsonl").write_text(row, encoding="utf-8")
    for name, family in MODELS.items():
        pretrained_models.save(family, folder / name, positions=200)


def write_losses(folder: Path) -> None:
    """What another tool would have made of the sentences in `sets`: a loss for each."""
    files = sorted((folder / "sets").rglob("*.jsonl"))
    pairs = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    sentences = dict.fromkeys(pair[f"sentence_{kind}"] for pair in pairs for kind in ("good", "bad"))
    rows = "".join(f"{sentence}\t{len(sentence)}\n" for sentence in sentences)
    (folder / "losses.tsv").write_text(f"sentence\tloss\n{rows}", encoding="utf-8")


def _write_texts(folder: Path) -> None:
    from concord.commands.grammar import main as grammar

    def prose(lang: str, name: str) -> str:
        file = folder / name
        assert grammar(["sample", lang, "-n", "240", "--out", str(file)]) == 0
        return file.read_text(encoding="utf-8")

    german = prose("de", "german.txt")
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text(german, encoding="utf-8")
    asked = "Der Hund bellt .\nDie Hunde bellen .\nDer Gast wartet .\nDie Gäste warten .\n"  # words of the sets
    (folder / "nl.txt").write_text(german + asked * 30, encoding="utf-8")
    (folder / "sentences.txt").write_text("der Gast wartet .\ndie Gäste warten .\n", encoding="utf-8")
    prose("fr", "french.txt")
    treebank = (ROOT / "patterns/fr/sample.conllu").read_text(encoding="utf-8")
    lines = [*re.findall(r"^# text = (.*)$", treebank, re.MULTILINE), *["Les livres que Luc a lus .", "Luc a lu ."] * 5]
    (folder / "fr.txt").write_text("\n".join(lines * 2) + "\n", encoding="utf-8")
    english = prose("en", "my.txt")
    (folder / "corpus.txt").write_text(english, encoding="utf-8")
    (folder / "novels.txt.xz").write_bytes(lzma.compress(english.encode()))
    for name in ("novels", "babylm/train_10M"):
        (folder / name).mkdir(parents=True)
        (folder / name / "one.txt").write_text(english, encoding="utf-8")
    (folder / "novels/en.txt.xz").write_bytes(lzma.compress(english.encode()))
    for lang in ("es", "fr"):
        (folder / f"novels/{lang}.txt.xz").write_bytes(lzma.compress(prose(lang, f"{lang}-novels.txt").encode()))


def _write_treebank(folder: Path) -> None:
    """The sample, and between its sentences, most of which have relative clauses, three that have none."""
    plain = iter((folder / "french.txt").read_text(encoding="utf-8").splitlines())
    sample = (ROOT / "patterns/fr/sample.conllu").read_text(encoding="utf-8").strip().split("\n\n")
    mixed = [block for own in sample for block in (own, *(_tree(next(plain)) for _ in range(3)))]
    (folder / "fr_gsd-ud-train.conllu").write_text("\n\n".join(mixed) + "\n\n", encoding="utf-8")


def _tree(sentence: str) -> str:
    """Every word below the first."""
    words = enumerate(sentence.split(), start=1)
    return "\n".join(f"{n}\t{word}\t{word}\tX\t_\t_\t{int(n > 1)}\t{'dep' if n > 1 else 'root'}\t_\t_" for n, word in words)


def _write_tables(folder: Path) -> None:
    rows = [("der Gast wartet", "der Gast warten", "calm"), ("die Gäste warten", "die Gäste wartet", "loud")]
    table = "".join(f"{good},{bad},simple,{mood}\n" for good, bad, mood in rows)
    (folder / "pairs.csv").write_text(f"good,bad,construction,mood\n{table}", encoding="utf-8")
    (folder / "paren.csv").write_text(f"goed,fout,bouw,mood\n{table}", encoding="utf-8")
    for name in ("a", "b"):
        words = ["der", "die", "Gast", "Gäste", "wartet", "warten", "."]
        (folder / f"{name}.words.tsv").write_text("".join(f"{word}\t20\n" for word in words), encoding="utf-8")
    set_files.write(folder, "li2021").rename(folder / "file.tab")

"""CONTRIBUTING's table "To add …", by really adding one of each to a copy of the project.

An addition writes the files that its row names, or changes them in the places that it names; then the thing is used, in one
process for all of them. Rows that other tests add are listed with those tests.
"""

# ruff: noqa: E501 - lines that are written into files

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

import pytest
from own_study import PAGE

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("src", "conf", "grammars", "suites", "patterns")
SHOWN = dict(re.findall(r"^`study/([^`]+)`:\n```\w*\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL))
ITALIAN = {name: SHOWN[name] for name in SHOWN if name.startswith("grammars/it/") or name == "conf/lang/it.yaml"}


LETTERS = """
class Letters:
    eos, unk = 0, 1

    def __init__(self, words):
        self.words, self.ids = words, {word: number for number, word in enumerate(words)}

    def __len__(self):
        return len(self.words)

    def __contains__(self, word):
        return self.unk not in self.encode_word(word)

    def encode_word(self, word):
        return [0] if word == "<eos>" else [self.ids.get("_" * (not n) + letter, 1) for n, letter in enumerate(word)]

    def encode(self, words):
        return [number for word in words for number in self.encode_word(word)]

    def begins(self):
        return [number < 2 or word.startswith("_") for number, word in enumerate(self.words)]

    def digest(self):
        return str(self.words)

    def plain(self):
        return {"letters": self.words}


class LetterRule:
    counted_in, per_language = ("train",), False

    def key(self):
        return "letters"

    def learn(self, *counts):
        found = {"_" * (not n) + letter for each in counts for word, _ in each for n, letter in enumerate(word)}
        return Letters(["<eos>", "<unk>", *sorted(found)])
"""


@dataclass(frozen=True)
class Addition:
    """`files` are written, `changes` are texts in files and what takes their place, `use` is Python that fails if it does not work."""

    use: str
    files: dict[str, str] = field(default_factory=dict)
    changes: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def places(self) -> list[str]:
        return [*self.files, *self.changes]


ADDITIONS = {
    "a language": Addition(
        "assert grammar(['check', 'it']) == 0\nassert probe(sets('it', limit=8))['prep'] == 0.5\nassert settings('lang=it').lang",
        files=ITALIAN,
    ),
    "a construction": Addition(
        "assert probe(sets('it', 'with_adverb', limit=8))['with_adverb'] == 0.5",
        files={"grammars/it/with_adverb.avg": "vary: V[]\nS[] Art[$n] N_1[$n] spesso V[$n]\n"},
    ),
    "words for fitted sets": Addition(
        "from concord.data.grammar.folder import WIDE, folder_of, load\n"
        "assert 'Torhütern' in str(load(folder_of('de') / WIDE, 'prep').rules)",
        changes={"grammars/de/wide/common.avg": ("  Mann       |", "  Torhüter   | Torhüter   | Torhütern\n  Mann       |")},
    ),
    "a set in your own folder": Addition(
        "assert grammar(['check', 'mine']) == 0",
        files={
            "mine/common.avg": "attribute number $n: s singular | p plural\nfeature subject_number: number of N\n"
            "N[s] Hund\nN[p] Hunde\nV[s] bellt | ruht\nV[p] bellen | ruhen\n",
            "mine/simple.avg": "vary: V[]\nS[] N[$n] V[$n]\n",
        },
    ),
    "an optimiser or a schedule": Addition(
        "made = settings('model/optimizer=rmsprop', 'model/scheduler=halved').model\n"
        "from concord.lm import optimisation\nimport torch\n"
        "assert type(optimisation.optimizer([torch.nn.Parameter(torch.zeros(1))], **made.optimizer)).__name__ == 'RMSprop'\n"
        "assert optimisation.schedule(optimisation.Horizon(8, 4), **made.scheduler).factor(0) == 0.5",
        files={
            "conf/model/optimizer/rmsprop.yaml": "name: rmsprop\nlr: 0.01\n",
            "conf/model/scheduler/halved.yaml": "name: halved\n",
        },
        changes={
            "src/lm/optimisation.py": (
                "SCHEDULES: dict[str, type[Schedule]] = {",
                (
                    'OPTIMIZERS["rmsprop"] = torch.optim.RMSprop\n\n\nclass Halved(Schedule):\n'
                    "    def factor(self, step: int) -> float:\n        return 0.5\n\n\n"
                    'SCHEDULES: dict[str, type[Schedule]] = {\n    "halved": Halved,'
                ),
            )
        },
    ),
    "a corpus": Addition(
        "made = settings('data=poems', 'data.path=poems.txt', 'probes=none')\n"
        "from concord.data.corpora import SOURCES\nassert type(made.data).__name__ == 'Poems'\nassert type(made.data) in SOURCES",
        files={"conf/data/poems.yaml": "defaults: [text]\nname: poems\n", "poems.txt": "a b .\n"},
        changes={
            "src/settings/corpus_settings.py": (
                'BUILT_IN = "grammar"\nCORPORA: dict[str, type[CorpusSettings]] = {',
                (
                    "@dataclass(frozen=True, kw_only=True)\nclass Poems(TextCorpus):\n    pass\n\n\n"
                    'BUILT_IN = "grammar"\nCORPORA: dict[str, type[CorpusSettings]] = {\n    "poems": Poems,'
                ),
            ),
            "src/data/corpora.py": (
                "SOURCES: dict[type[CorpusSettings], Callable[..., Source]] = {",
                (
                    "from ..settings.corpus_settings import Poems\n\n"
                    "SOURCES: dict[type[CorpusSettings], Callable[..., Source]] = {\n    Poems: _text,"
                ),
            ),
        },
    ),
    "a tokenizer": Addition(
        "made = settings('tokenizer=letters', 'lang=it', 'data.sentences={train: 40, valid: 5, test: 5}', 'probes=none')\n"
        "from concord.data.corpora import CorpusRecipe\nfrom concord.data.corpus import restore_tokenizer\n"
        "rule = CorpusRecipe(made.data, made.languages, made.tokenizer, None).tokenizer_rule()\n"
        "learnt = rule.learn([('ride', 3), ('dorme', 1)])\n"
        "assert learnt.begins()[learnt.encode_word('ride')[0]] and 'riderò' not in learnt\n"
        "assert restore_tokenizer(learnt.plain()).encode(['ride']) == learnt.encode(['ride'])",
        files={
            "conf/tokenizer/letters.yaml": "name: letters\n",
            "src/data/letters.py": LETTERS,
        },
        changes={
            "src/settings/training_settings.py": (
                "TokenizerSettings = WordTokenizer",
                (
                    '@dataclass(frozen=True)\nclass LetterTokenizer:\n    name: Literal["letters"]\n'
                    '    rules: Literal["language"] = "language"\n\n\nTokenizerSettings = LetterTokenizer | WordTokenizer'
                ),
            ),
            "src/settings/run.py": (
                "    kind: type[TokenizerSettings] = ",
                (
                    "    from .training_settings import LetterTokenizer\n\n"
                    '    kind = LetterTokenizer if plain.tokenizer.get("name") == "letters" else '
                ),
            ),
            "src/data/corpora.py": (
                "        if isinstance(self.tokenizer, WordTokenizer):",
                (
                    '        if self.tokenizer.name == "letters":\n            from .letters import LetterRule\n\n'
                    "            return LetterRule()\n        if isinstance(self.tokenizer, WordTokenizer):"
                ),
            ),
            "src/data/corpus.py": (
                '    if "tokenizer" in plain:',
                (
                    '    if "letters" in plain:\n        from .letters import Letters\n\n        return Letters(plain["letters"])\n'
                    '    if "tokenizer" in plain:'
                ),
            ),
        },
    ),
    "a place where sweeps run": Addition(
        "from concord.commands.hydra_program import register_plugins\nfrom hydra.core.plugins import Plugins\n"
        "register_plugins()\ncomposed = compose('train', ['hydra/launcher=one_by_one'], return_hydra_config=True)\n"
        "made = Plugins.instance()._instantiate(composed.hydra.launcher)\nassert type(made).__name__ == 'OneByOne'\n"
        "assert made.place(3, 1) is not None",
        files={"conf/hydra/launcher/one_by_one.yaml": "_target_: hydra_plugins.concord.OneByOne\n"},
        changes={
            "src/runs/sweeps/launchers.py": (
                "class SlurmLauncher(SweepLauncher):",
                (
                    'class OneByOne(SweepLauncher):\n    def place(self, total: int, processes: int) -> "JobPlace":\n'
                    "        from .processes import Processes\n\n        return Processes(1, total, processes)\n\n\n"
                    "class SlurmLauncher(SweepLauncher):"
                ),
            ),
            "src/commands/hydra_program.py": (
                "    for plugin in (ProcessLauncher,",
                "    from ..runs.sweeps.launchers import OneByOne\n\n    for plugin in (OneByOne, ProcessLauncher,",
            ),
        },
    ),
    "a logger": Addition(
        "from concord.own_code import make_each\nfrom pytorch_lightning.loggers.logger import Logger\n"
        "(made,) = make_each('logger', settings('logger=csv').logger.rest, Logger, ())\n"
        "assert type(made).__name__ == 'CSVLogger'",
        files={"conf/logger/csv.yaml": "csv: {_target_: pytorch_lightning.loggers.CSVLogger, save_dir: numbers}\n"},
    ),
    "a table or a test in reports": Addition(
        "concord.Report([concord.probe(flat, sets('it', limit=8))]).save('reported')\n"
        "assert 'Nothing but this' in (root / 'reported/tables.md').read_text()",
        changes={
            "src/report/paper_tables.py": (
                "def paper_tables(",
                (
                    "def own_table(estimates: Estimates) -> Grid:\n"
                    '    return Grid("own", "Nothing but this", "", "construction", (Head("", "n"),), (("prep", (EMPTY,)),))\n\n\n'
                    "def paper_tables("
                ),
                "reference_table(own), size_table(own))",
                "reference_table(own), size_table(own), own_table(own))",
            ),
        },
    ),
    "something for notebooks": Addition(
        "assert concord.greet() == 'hello'",
        changes={
            "src/api.py": ("\ndef load(", '\ndef greet() -> str:\n    return "hello"\n\n\ndef load('),
            "src/__init__.py": ("__all__ = [\n", '__all__ = [\n    "greet",\n'),
        },
    ),
    "a published set-up": Addition(
        "assert settings('experiment=mine').model.embedding == 32",
        files={"conf/experiment/mine.yaml": "# @package _global_\nmodel: {embedding: 32}\n"},
    ),
    "settings to try one by one": Addition(
        "composed = compose('train', ['hparams_search=mine'], return_hydra_config=True)\n"
        "assert [dict(point) for point in composed.hydra.sweeper.points] == [{'seed': 1}, {'seed': 2}]",
        files={
            "conf/hparams_search/mine.yaml": "# @package _global_\ndefaults: [override /hydra/sweeper: points]\n"
            "hydra:\n  mode: MULTIRUN\n  sweeper:\n    points:\n      - {seed: 1}\n      - {seed: 2}\n"
        },
    ),
    "a collection of sets": Addition(
        "from concord.probes.named_collections import named_collection\n"
        "assert settings('probes=two').probes.name == 'two'\nassert named_collection('two', 'de').place().name == 'de'",
        files={
            "conf/probes/two.yaml": "defaults: [agreement]\nname: two\nformat: grammar\npath: grammars/{lang}\nconstructions: [prep, subj_rel]\n"
        },
    ),
    "a query on trees": Addition(
        "from concord.commands.sets import main\n"
        "assert main(['extract', 'noun_verb', str(root / 'patterns/fr/sample.conllu'), '--lang', 'fr', '--controls', 'none',"
        " '--out', 'extracted']) == 0",
        files={
            "patterns/noun_verb.yaml": "nodes:\n  cue: {upos: NOUN, features: {Number: '*'}}\n"
            "  target: {above: cue, relation: nsubj, upos: VERB, features: {Number: '*'}}\n"
            "agree: [Number]\nvary: {Number: {Sing: Plur, Plur: Sing}}\n"
        },
    ),
    "a lexicon for other forms": Addition(
        "from concord.probes.treebanks.lexicon_packages import load_package\nassert load_package('json').other(None, '', '') == {'x'}",
        changes={
            "src/probes/treebanks/lexicon_packages.py": (
                "def load_package",
                (
                    "class Own:\n    def __init__(self, package):\n        pass\n\n"
                    "    def other(self, word, feature, value, gender=''):\n        return {'x'}\n\n\n"
                    'PACKAGES["json"] = Own\n\n\ndef load_package'
                ),
            )
        },
    ),
    "a published set that can be named": Addition(
        "from concord.probes.published_sets import PUBLISHED\nassert PUBLISHED['tiny'].github == 'some/tiny'\n"
        "assert settings('probes=tiny').probes.path == 'published:tiny'",
        files={"conf/probes/tiny.yaml": "defaults: [agreement]\nname: tiny\nformat: blimp\npath: published:tiny\n"},
        changes={
            "src/probes/published_sets.py": (
                "    for each in (\n",
                '    for each in (\n        PublishedSet("tiny", "Tiny", ("en",), "MIT", "Nobody", github="some/tiny", commit="0" * 40),\n',
            ),
            "src/probes/published_files.csv": ("set,path,bytes,sha256\n", f"set,path,bytes,sha256\ntiny,a.jsonl,1,{'0' * 64}\n"),
        },
    ),
    "names of checkpoints that are read as steps, tokens or words": Addition(
        "from concord.settings.checkpoint_names import NamingRule\nassert NamingRule().read('update-80').step == 80",
        changes={"src/settings/checkpoint_names.py": ("|step|iter|", "|step|update|iter|")},
    ),
    "a scorer": Addition(
        "from concord.probes.scorers.constant import Constant\nfrom concord.probes.scorers import ProbeSentence\n"
        "assert Constant('flat').score([ProbeSentence('a b'), ProbeSentence('c')])[1].tolist() == [-1]",
        files={
            "src/probes/scorers/constant.py": "import numpy as np\n\nfrom . import Reading, WordScores\n\n\nclass Constant:\n"
            "    def __init__(self, name):\n        self.name = name\n\n    @property\n    def reading(self):\n"
            "        return Reading()\n\n    def score(self, sentences):\n"
            "        lengths = [len(each.words.split()) for each in sentences]\n"
            "        n = sum(lengths)\n"
            "        return WordScores(np.cumsum([0, *lengths]), np.full(n, -1, np.float32), np.zeros(n, bool))\n"
        },
    ),
    "a protocol": Addition(
        "assert concord.probe(flat, sets('it', limit=8), protocol='strict').accuracy['mean'] == 0.0",
        changes={"src/probes/contract.py": ("PROTOCOLS = {\n", 'PROTOCOLS = {\n    "strict": Protocol(Rules(ties="wrong")),\n')},
    ),
    "a reference line": Addition(
        "from concord.probes.heuristics import HEURISTICS\nassert HEURISTICS['always plural']({'subject_number': 'plural'}) == 'plural'",
        changes={
            "src/probes/heuristics.py": (
                "def judge_by_rule",
                'HEURISTICS["always plural"] = lambda features: "plural" if tests_number(features) else None\n\n\ndef judge_by_rule',
            )
        },
    ),
    "a score for masked models": Addition(
        "from concord.probes.scorers.pretrained.masked import RULES\nassert RULES['mine'].hides == 'word'",
        changes={"src/probes/scorers/pretrained/masked.py": ("RULES = {\n", 'RULES = {\n    "mine": Masking("word", _word),\n')},
    ),
    "features for published grammars": Addition(
        "from concord.probes.readers import reader\n"
        "(made,) = reader('grammar').read(root / 'theirs/heavy.avg', 'en')\nassert made[0].features['weight'] == 'heavy'",
        files={
            "theirs/common.avg": "Det[s] the\n",
            "theirs/heavy.avg": "vary: V[]\nS[] N_1[s,big] V[s]\nN_1[s,big] whale\nV[s] swims\nV[p] swim\n",
        },
        changes={
            "grammars/clams.features": (
                "attribute gender:",
                "attribute weight: big heavy | small light\nfeature weight: weight of N_1\nattribute gender:",
            )
        },
    ),
    "a figure": Addition(
        "from concord.report.figures import FIGURES, draw_figure\nimport pandas as pd\n"
        "assert FIGURES['empty'] is not None\nassert draw_figure(pd.DataFrame(), 'empty').axes == []",
        files={
            "src/report/figures/empty.py": "from matplotlib.figure import Figure\n\n\ndef draw_empty(frame):\n    return Figure()\n"
        },
        changes={
            "src/report/figures/__init__.py": (
                'FIGURES: dict[str, Callable[["pd.DataFrame"], "Figure"]] = {\n',
                'from .empty import draw_empty\n\nFIGURES: dict[str, Callable[["pd.DataFrame"], "Figure"]] = {\n    "empty": draw_empty,\n',
            )
        },
    ),
    "published numbers beside ours": Addition(
        "from concord.report.published_values import published\nassert any(each.source == 'Nobody 1999' for each in published())",
        changes={
            "src/report/published.csv": (
                "construction,condition,metric,value,sd,n,note\n",
                "construction,condition,metric,value,sd,n,note\nNobody 1999,1,de,LSTM,monolingual,prep,,accuracy,0.50,,10,\n",
            )
        },
    ),
}
# Rows that these add, write or compare.
ELSEWHERE = {
    "a network": "tests/lm/test_new_network.py",
    "a set format": "tests/probes/test_readers.py",
    "a setting, a metric or a file of a run": "tests/test_reference.py",
    "a page": "tests/test_docs.py",
}
START = """
import concord, json, os, sys, traceback
from pathlib import Path
from concord.commands.grammar import main as grammar
from concord.settings.overrides import read_composed
from hydra import compose, initialize_config_dir

root = Path(sys.argv[1])
sets = concord.sets
flat = concord.model(lambda texts: [[-1.0] * len(text.split()) for text in texts], name="flat")
probe = lambda asked: concord.probe(flat, asked).accuracy
settings = lambda *overrides: read_composed(compose("train", list(overrides)))
found = {}
with initialize_config_dir(str(root / "conf"), version_base="1.3"):
    for name, use in json.load(sys.stdin).items():
        try:
            exec(use, globals())
            found[name] = ""
        except BaseException:
            found[name] = traceback.format_exc()
Path(sys.argv[2]).write_text(json.dumps(found))
"""


def table() -> dict[str, str]:
    """What can be added, and the places that its row names."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## To add …\n")[1].split("\n## ")[0]
    rows = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in text.splitlines()[2:] if line.startswith("|")
    ]
    return {what: " ".join(places) for what, *places in rows if what}


def add(copy: Path, addition: Addition) -> None:
    for name, content in addition.files.items():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text(content, encoding="utf-8")
    for name, texts in addition.changes.items():
        text = (copy / name).read_text(encoding="utf-8")
        for before, after in zip(texts[::2], texts[1::2], strict=True):
            assert before in text, (name, before)
            text = text.replace(before, after, 1)
        (copy / name).write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def used(tmp_path_factory) -> dict[str, str]:
    """What became of each addition: nothing where it worked, otherwise what went wrong."""
    copy = tmp_path_factory.mktemp("copy")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "concord").symlink_to("src")
    for addition in ADDITIONS.values():
        add(copy, addition)
    environment = os.environ | {"PYTHONPATH": str(copy), "CONCORD_CACHE": str(copy / ".cache")}
    command = [sys.executable, "-P", "-c", START, str(copy), str(copy / "found.json")]
    asked = json.dumps({name: addition.use for name, addition in ADDITIONS.items()})
    done = subprocess.run(command, input=asked, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads((copy / "found.json").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("what", ADDITIONS)
def test_what_the_table_says_is_all_that_is_needed(what, used):
    assert used[what] == ""


def test_every_row_of_the_table_is_added_here_or_elsewhere():
    assert sorted(table()) == sorted([*ADDITIONS, *ELSEWHERE])
    assert [test for test in ELSEWHERE.values() if not (ROOT / test).exists()] == []


@pytest.mark.parametrize("what", ADDITIONS)
def test_the_row_names_the_places(what):
    """A file of the project that must be written or changed stands in the row, `<lang>` and the like for its names."""
    row = table()[what]
    named = [re.sub(r"<[^>]*>", "*", name) for name in re.findall(r"`((?:src|conf|grammars|patterns)/[^`\s]*)`?", row)]
    ours = [place for place in ADDITIONS[what].places if place.startswith(("src/", "conf/", "grammars/", "patterns/"))]
    missing = [place for place in ours if not any(fnmatch(place, name.rstrip("/")) or place.startswith(name) for name in named)]
    assert missing == [], row

"""Languages, grammars, settings and networks of one's own, in the folder where one works: the page docs/own.md, followed."""

import sys
from pathlib import Path

import concord as library
import pytest
from concord.data.grammar import folder_of, languages
from concord.data.grammar.folder import constructions
from concord.errors import UserError
from concord.lm import networks
from concord.lm.model import Architecture, LanguageModel
from concord.own_code import import_allowed
from concord.places import OWN, own_or_installed
from concord.probes.collection import locate
from concord.probes.models import load_function
from concord.probes.pairs import words_of
from concord.settings.languages import language_files, read_language
from concord.settings.overrides import read_composed_evaluation
from hydra import compose, initialize_config_dir
from own_study import ROOT, SMALL, concord, write_study

NETWORK = {"name": "mynets.gru", "hidden": 8, "layers": 1}


@pytest.fixture
def study(tmp_path, monkeypatch) -> Path:
    write_study(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] in ("mynets", "mytools")]:
        del sys.modules[name]


def test_a_language_of_ones_own_stands_beside_ours(study):
    assert "it" in languages()
    assert "de" in languages()
    assert constructions(folder_of("it")) == ["prep", "simple_agrmt"]
    assert locate("grammars/{lang}", "it") == study / "grammars/it"
    assert locate("grammars/{lang}", "de") == folder_of("de")
    assert "it" in language_files()
    assert words_of("L'amico ride.", "it") == ["L'", "amico", "ride", "."]


def test_what_has_the_name_of_ours_comes_before_it(study):
    (study / "conf/lang/de.yaml").write_text("code: de\nname: Our German\n", encoding="utf-8")
    (study / "grammars/de").mkdir()
    (study / "grammars/de/common.avg").write_text("", encoding="utf-8")
    assert read_language("de").name == "Our German"
    assert folder_of("de") == study / "grammars/de"


def test_another_folder_can_be_named(study, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert "it" not in languages()
    monkeypatch.setenv(OWN, str(study))
    assert "it" in languages()
    assert own_or_installed("conf/lang")[0] == study / "conf/lang"


def test_the_library_finds_it_too(study):
    constant = library.model(lambda sentences: [[-1.0] * len(text.split()) for text in sentences], name="constant")
    assert library.probe(constant, library.sets("it", limit=8)).accuracy == {"prep": 0.5, "simple_agrmt": 0.5, "mean": 0.5}


def test_a_network_of_ones_own_must_be_allowed(study):
    described = Architecture(9, 8, tied=True, dropout=0.0, init=0.1, network=NETWORK)
    assert type(LanguageModel(described, ["mynets"]).network).__name__ == "GRU"
    for allow in ((), ["my"], ["mynets.other"]):
        with pytest.raises(UserError, match=r"network mynets.gru: this is code from outside Concord; .* allow=\[mynets\]"):
            LanguageModel(described, allow)


def test_a_checkpoint_cannot_allow_code(study):
    with pytest.raises(UserError, match="from outside Concord"):
        networks.build({**NETWORK, "allow": ["mynets"]}, 8)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mynets.nothing", "no module mynets.nothing, neither installed nor in"),
        ("nobody.gru", "no module nobody, neither installed nor in"),
        ("mynets.broken", "it imports no_such_package, which is not installed"),
    ],
)
def test_code_that_is_not_there_is_explained(study, name, message):
    (study / "mynets/broken.py").write_text("import no_such_package\n", encoding="utf-8")
    with pytest.raises(UserError, match=message):
        import_allowed(name, ["mynets", "nobody"], "network")


def test_a_module_without_a_network_is_explained(study):
    (study / "mynets/empty.py").write_text("", encoding="utf-8")
    with pytest.raises(UserError, match=r"network mynets.empty: this module has no build"):
        networks.build({"name": "mynets.empty"}, 8, ["mynets"])


@pytest.mark.parametrize(
    ("name", "allow", "message"),
    [
        ("mytools.scores.by_length", [], r"code from outside Concord; .* allow=\[mytools\]"),
        ("mytools.scores.by_weight", ["mytools"], "scorer=mytools.scores.by_weight: no by_weight in mytools.scores"),
        (
            "mytools.scores.math",
            ["mytools"],
            ": not a function; it must take sentences and return the log-probability of each of their words",
        ),
        ("by_length", ["mytools"], ": must be the dotted name of a function, for instance mypackage.score"),
    ],
)
def test_a_scorer_that_is_not_allowed_or_not_there_is_told(study, name, allow, message):
    with pytest.raises(UserError, match=message):
        load_function(name, allow, read_language("de"))


def test_a_scorer_of_ones_own_is_evaluated(study, capsys):
    made = load_function("mytools.scores.by_length", ["mytools"], read_language("it"))
    accuracy = library.probe(made, library.sets("it", limit=8)).accuracy
    assert set(accuracy) == {"prep", "simple_agrmt", "mean"}
    assert made.score(["il medico"])[0].tolist() == pytest.approx([-6.516193, -19.548578], rel=1e-5)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["scorer=a.b"], "scorer= needs lang="),
        (["scorer=a.b", "lang=de", "ckpt_path=x"], "scorer=a.b: one model at a time; leave ckpt_path= out"),
        (["model=hf", "model.name=gpt2", "lang=en", "ckpt_path=x"], "ckpt_path=x: not together with model=hf; leave one out"),
        (["scorer=a.b", "lang=de", "data=grammar"], "leave data= out with scorer="),
    ],
)
def test_a_scorer_stands_alone(overrides, message):
    with (
        initialize_config_dir(str(ROOT / "conf"), version_base="1.3"),
        pytest.raises(UserError, match=message),
    ):
        read_composed_evaluation(compose("evaluate", overrides))


@pytest.mark.slow
def test_a_callback_a_logger_and_a_scorer_of_ones_own_as_the_page_has_them(study):
    own = ["+callbacks.clock._target_=mytools.clock.Clock", "+callbacks.clock.file=clock.txt"]
    own += ["+logger.diary._target_=mytools.diary.Diary", "+logger.diary.file=diary.txt"]
    concord(study, "train", "lang=it", "name=heard", *SMALL, *own, "allow=[mytools]")
    assert [line.split()[0] for line in (study / "clock.txt").read_text().splitlines()] == ["0", "1"]
    assert "valid/perplexity" in (study / "diary.txt").read_text()
    done = concord(study, "evaluate", "scorer=mytools.scores.by_length", "lang=it", "allow=[mytools]")
    assert "simple_agrmt" in done.stdout


@pytest.mark.slow
def test_an_italian_of_ones_own_is_trained_probed_and_reported(study):
    assert "no faults" in concord(study, "grammar", "check", "it").stdout
    assert "i turisti" in concord(study, "sets", "show", "it", "prep", "-n", "8").stdout
    concord(study, "train", "lang=it", "model=gru", "allow=[mynets]", "model.network.hidden=16", "name=italian", *SMALL)
    assert "allow" not in (study / "runs/italian/config.yaml").read_text(encoding="utf-8")
    refused = concord(study, "evaluate", "ckpt_path=runs/italian", check=False)
    assert refused.returncode == 1
    assert "network mynets.gru: this is code from outside Concord; if you trust it" in refused.stderr
    assert refused.stderr.count("\n") == 1
    done = concord(study, "evaluate", "ckpt_path=runs/italian/checkpoints/best.ckpt", "allow=[mynets]", "out=results/italian")
    assert "simple_agrmt" in done.stdout
    concord(study, "report", "runs", "--no-figures")
    assert "Italian" in (study / "report/report.html").read_text(encoding="utf-8")
    model = library.load("runs/italian", allow=["mynets"])
    assert [word.unknown for word in model.surprisal("il medico dietro i turisti ride.")] == [False] * 7

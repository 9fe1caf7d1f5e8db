"""Whatever is typed for a setting, a run is described or one line says what is wrong with it."""

import random
from collections.abc import Iterator

import pytest
from concord.commands.typed_arguments import as_typed
from concord.errors import UserError
from concord.probes.contract import make_contract
from concord.runs.continuing import corpus_recipe
from concord.runs.fit import read_recipe
from concord.settings.composition import COMPOSING, explain_composition, known_names
from concord.settings.overrides import read_composed, read_composed_evaluation, refuse_lists
from concord.settings.probing import all_collections
from hydra import compose, initialize_config_dir
from training_runs import ROOT

VALUES = [
    *(
        "0",
        "1",
        "-1",
        "2",
        "7",
        "1.5",
        "-0.5",
        "1e-9",
        "1e400",
        "-inf",
        "nan",
        "1000000",
        "9" * 30,
        "-" + "9" * 30,
        "0x10",
        "1_0",
    ),
    *("null", "true", "false", "yes", "abc", "''", "' '", "auto", "none", "x" * 300, "größer", "²4", "a b", "don't", "[/red]"),
    *("[]", "[1]", "[1,a]", "[[1]]", "[null]", "[true,3]", "{}", "{a:1}", "{a:{b:2}}", "[{a:1}]", "[1", "{a", "a,b", "1,2"),
    *(
        "${seed}",
        "${nothing}",
        "${",
        "???",
        ".",
        "..",
        "a/b",
        "/",
        "/dev/null",
        "~",
        "\\\\",
        "'",
        '"',
        "%",
        "#",
        "<!--",
        "a=b",
        "\t",
    ),
    *("de", "fr", "lstm", "grammar", "word", "sgd", "min", "test", "valid/loss", "default", "clams", "agreement", "zero", "32"),
]


def random_overrides(count: int, seed: int, command: str = "train") -> Iterator[str]:
    """Settings and groups, as they are or misspelt, with values of every kind."""
    rng = random.Random(seed)
    names = [name for name in known_names([], command) if not name.startswith("hydra")]
    for _ in range(count):
        name = rng.choice(names)
        if rng.random() < 0.15:
            place = rng.randrange(len(name))
            name = rng.choice(
                [name[:place] + name[place + 1 :], f"{name}.x", name + rng.choice("sx."), name.replace(".", "/", 1)]
            )
        yield rng.choice(["", "", "", "", "+", "++", "~"]) + name + ("" if rng.random() < 0.02 else f"={rng.choice(VALUES)}")


def describe(overrides: list[str], command: str = "train") -> None:
    """All that a command does with its command line before it looks at a corpus or a model."""
    typed = as_typed(overrides)
    refuse_lists(typed)
    try:
        with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
            composed = compose(command, typed)
    except COMPOSING as error:
        raise explain_composition(error, typed, command) from None
    if command == "evaluate":
        asked = read_composed_evaluation(composed)
        all_collections(asked.probes)
        make_contract(asked.probes.protocol, asked.probes.given_rules)
        return
    settings = read_composed(composed)
    _ = settings.folder, settings.languages, settings.processes, corpus_recipe(settings)
    recipe = read_recipe(settings)
    recipe.check()
    recipe.check_trainer()
    all_collections(settings.probes)
    make_contract(settings.probes.protocol, settings.probes.given_rules)


def told(override: str, command: str = "train") -> str:
    try:
        describe([override], command)
    except UserError as error:
        return str(error)
    return ""


def must_be_described_or_told(overrides: Iterator[str], command: str = "train") -> int:
    """The number that was refused, each in one line that begins with what was typed or can be found in it."""
    refused = 0
    for override in overrides:
        message = told(override, command)
        refused += bool(message)
        assert "\n" not in message, override
        assert len(message) < 1500, override
    return refused


def test_a_random_override_is_described_or_told():
    assert must_be_described_or_told(random_overrides(25, seed=0)) > 5


def test_a_random_override_of_an_evaluation_is_described_or_told():
    assert must_be_described_or_told(random_overrides(25, seed=0, command="evaluate"), "evaluate") > 5


@pytest.mark.slow
def test_two_thousand_random_overrides_are_described_or_told():
    assert must_be_described_or_told(random_overrides(2000, seed=1)) > 1000


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("probes.limt=5", "probes.limt: no such setting; did you mean probes.limit?"),
        ("+probes.limt=5", "probes.limt: no such setting; did you mean probes.limit?"),
        ("+data.foo=5", "data.foo: no such setting; available: data.name"),
        ("+trainer.max_steps=5", "trainer.max_steps=5: every epoch ends with a validation"),
        ("+trainer.check_val_every_n_epoch=2", "trainer.check_val_every_n_epoch=2: every epoch ends with a validation"),
        ("+trainer.limit_val_batches=0", "trainer.limit_val_batches=0: every epoch ends with a validation"),
        ("+foo=5", "foo: no such setting; available: "),
        ("data.limt=5", "data.limt: no such setting; did you mean data.limit?"),
        ("probes.zzz=5", "probes.zzz: no such setting; available: probes.name, "),
        ("zzz=5", "zzz: no such setting; available: seed, name, tags"),
        ("lagn=de", "lagn: no such setting; did you mean lang?"),
        ("lang=gr", "lang=gr: no such choice; available: any, de, en, es, fr, he, multi, ru"),
        ("model=lstn", "model=lstn: no such choice; did you mean model=lstm? (available: lstm, transformer)"),
        ("model/optimizer=adm", "model/optimizer=adm: no such choice; did you mean model/optimizer=adam?"),
        ("lang=de,fr", "one model of all: lang=multi lang.languages=[de,fr]; one run each: -m lang=de,fr"),
        ("seed=1,2", "seed=1,2: one value at a time; as a list: seed=[1,2]; one run each: -m seed=1,2"),
        ("seed=[1", "seed=[1: cannot be read"),
        ("seed", "seed: write a setting as name=value"),
        ("+lang=fr", "+lang=fr: lang already exists; leave out the +: lang=fr"),
        ("name=${nothing}", "name: Interpolation key 'nothing' not found"),
        ("seed=???", "seed=???: this setting needs a value"),
        (
            "+callbacks.checkpoints.foo=5",
            "callbacks.checkpoints.foo: no such setting",
        ),
        ("model.network.hidden=abc", "model.network.hidden=abc: must be a whole number of at least 1"),
        ("+model.network.hiden=5", "model.network.hiden: no such setting; did you mean model.network.hidden?"),
        ("~model.network.layers", "model.network.layers: this setting is missing"),
        ("model.optimizer.lr=abc", "model.optimizer.lr=abc: must be a number above 0"),
        (
            "+model.scheduler.warmup=x",
            "model.scheduler.warmup: no such setting",
        ),
        (
            "+model.scheduler.foo=1",
            "model.scheduler.foo: no such setting",
        ),
        ("data.sentences=5", "data.sentences=5: must be names with values"),
        ("trainer.threads=abc", "trainer.threads=abc: must be a whole number of at least 1, or null"),
        ("data.seed=-1", "data.seed=-1: must be a whole number of at least 0"),
        ("trainer.log_every_n_steps=0", "trainer.log_every_n_steps=0: must be a whole number of at least 1"),
        ("tokenizer.name=x", "tokenizer.name=x: must be one of word"),
        ("paths.runs=null", "paths.runs=null: must be a word"),
    ],
)
def test_a_wrong_setting_is_told_in_one_line(override, message):
    assert message in told(override)
    assert "\n" not in told(override)


def test_settings_that_a_choice_does_not_have_are_not_proposed_again():
    with pytest.raises(UserError, match="probes.constructions: no such setting; available: probes.name"):
        describe(["probes=none", "probes.constructions=[prep]", "probes.sample=40"], "train")


@pytest.mark.parametrize(
    ("override", "values"),
    [("callbacks.checkpoints.at_words=1000000", (1000000,)), ("callbacks.checkpoints.at_words=[1,2]", (1, 2))],
)
def test_a_single_number_is_a_list_of_one(override, values):
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        assert read_composed(compose("train", [override])).callbacks.checkpoints.at_words == values
        assert read_composed(compose("train", ["probes.schedule.words=1000"])).probes.schedule.words == (1000,)

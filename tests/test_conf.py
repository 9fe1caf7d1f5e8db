"""Every shipped YAML composes, says what it is, and describes a model that can be built."""

from pathlib import Path

import pytest
from concord.errors import UserError
from concord.probes.contract import make_contract
from concord.runs.fit import architecture, read_recipe
from concord.settings.evaluation_settings import read_evaluation_settings
from concord.settings.probing import all_collections
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from training_runs import settings

CONF = Path(__file__).resolve().parents[1] / "conf"
GROUPS = [
    "lang",
    "model",
    "model/optimizer",
    "model/scheduler",
    "data",
    "tokenizer",
    "probes",
    "trainer",
    "logger",
    "callbacks",
    "paths",
]
CHOICES = [
    f"{group}={file.stem}"
    for group in [*GROUPS, "experiment", "debug", "hparams_search"]
    for file in sorted((CONF / group).glob("*.yaml"))
]
for incomplete in (
    "model=hf",
    "model=scores",
    "lang=any",
):  # the first two are not trained, the third is of a language that is said
    CHOICES.remove(incomplete)


def evaluation(*overrides):
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return read_evaluation_settings(OmegaConf.to_container(compose("evaluate", list(overrides)), resolve=True))


@pytest.mark.parametrize("choice", CHOICES)
def test_every_choice_composes_into_a_recipe(choice, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)  # trainer=ddp asks for GPUs
    made = settings(choice)
    read_recipe(made).check()
    assert made.run_name().startswith(f"{made.lang.code}-{made.model.name}-{made.data.name}-s1-")


@pytest.mark.parametrize("file", sorted(CONF.rglob("*.yaml")))
def test_every_file_begins_by_saying_what_it_is(file):
    first = next(line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("# @package"))
    assert first.startswith("# ")
    assert len(first) > 10


@pytest.mark.parametrize(("experiment", "parameters"), [("li2021_lstm", 47_900_241), ("li2021_transformer", 126_674_513)])
def test_the_published_presets_have_the_published_sizes(experiment, parameters):
    import torch
    from concord.lm.model import LanguageModel

    model = settings(f"experiment={experiment}").model
    with torch.device("meta"):
        assert LanguageModel(architecture(model, 50_001)).parameter_count() == parameters


def test_the_clams_presets_differ_as_paper_and_scripts_do():
    paper, code = (settings(f"experiment={name}").model for name in ("clams2020", "clams2020_code"))
    assert (paper.embedding, paper.scheduler["against"]) == (800, "previous")
    assert (code.embedding, code.scheduler["against"]) == (200, "best")
    assert paper.optimizer == code.optimizer == {"name": "sgd", "lr": 20, "momentum": 0, "weight_decay": 0}
    assert paper.tied is code.tied is False


@pytest.mark.parametrize("experiment", ["clams2020", "clams2020_code"])
def test_the_clams_presets_count_as_their_program_does(experiment):
    """And so their reports have the standard deviation of the population, as Table 5 (see test_the_standard_deviation_says…)."""
    probes = settings(f"experiment={experiment}").probes
    contract = make_contract(probes.protocol, probes.given_rules)
    assert (contract.label, contract.plus_one, contract.unit) == ("clams+unknown=uncovered", True, "items")


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("callbacks.checkpoints.monitor=valid/perplexty", "not a metric that every validation has; available: valid/perplexity"),
        ("callbacks.early_stopping.mode=most", "callbacks.early_stopping.mode=most: must be one of min, max"),
        ("data.window=0", "data.window=0: must be a whole number of at least 1"),
        ("data.window=abc", "data.window=abc: must be a whole number"),
        ("seed=-1", "seed=-1: must be a whole number of at least 0"),
        (
            "trainer.precision=bf16-true",
            "trainer.precision=bf16-true: no such precision; available: 32, 32-true, 16-mixed, bf16-mixed",
        ),
        (
            "+trainer.limit_train_batches=0.1",
            "trainer.limit_train_batches=0.1: an epoch reads all of its text; use data.max_tokens=",
        ),
        ("+trainer.limit_train_batches=1", "trainer.limit_train_batches=1: an epoch reads all of its text"),
        ("+trainer.val_check_interval=1", "trainer.val_check_interval=1: every epoch ends with a validation"),
        ("+trainer.overfit_batches=1", "trainer.overfit_batches=1: an epoch reads all of its text"),
        ("+trainer.fast_dev_run=true", "trainer.fast_dev_run=True: an epoch reads all of its text"),
        ("trainer.strategy=fsdp", "trainer.strategy=fsdp: shards the weights, which cannot be probed; use ddp"),
        ("trainer.precision=fp17", "trainer.precision=fp17: no such precision; available: 32"),
        ("+trainer.epochs=3", "trainer.epochs: Lightning's Trainer has no such setting"),
        ("model.dropout=1.5", "model.dropout=1.5: must be a number of at least 0 and below 1"),
        (
            "+model.network.units=3",
            "model.network.units: no such setting; available: model.network.hidden, model.network.layers",
        ),
        ("trainer.accelerator=gpu", "trainer.accelerator=gpu: no GPU here; use auto, or trainer=ddp_cpu to try ddp"),
    ],
)
def test_wrong_settings_are_found_before_anything_is_done(override, message, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(UserError, match=message):
        read_recipe(settings(override)).check()


def test_loggers_can_be_chosen_together():
    none, both = settings("logger=none").logger, settings("logger=[wandb,tensorboard]").logger
    assert none.wandb is none.tensorboard is None
    assert both.wandb.project == "concord"
    assert both.tensorboard is not None


def test_a_pretrained_model_is_not_trained():
    with pytest.raises(
        UserError, match="model=hf is a pretrained model: concord evaluate scores it. To train one: model=lstm or"
    ):
        settings("model=hf")


def test_the_settings_of_a_pretrained_model_are_those_that_its_code_takes():
    import inspect
    from dataclasses import fields

    from concord.probes.scorers.pretrained import Options, load
    from concord.settings.checkpoint_names import naming_rule

    taken = ["trust_remote_code" if name == "trust" else name for name in inspect.signature(load).parameters]
    of_curves = [*inspect.signature(naming_rule).parameters, "revisions", "keep", "seed"]
    known = [*("places" if name == "table" else name for name in of_curves), *taken, *(field.name for field in fields(Options))]
    given = evaluation("model=hf", "model.name=x", "lang=de").model
    assert sorted(field.name for field in fields(given)) == sorted(known)
    assert Options(**{field.name: getattr(given, field.name) for field in fields(Options)}) == Options()


def test_a_runs_name_depends_on_what_changes_the_result_alone():
    base = settings().run_name()
    for same in (
        "logger=none",
        "logger=tensorboard",
        "paths.runs=elsewhere",
        "tags=[a]",
        "trainer.log_every_n_steps=7",
        "trainer.devices=auto",
        "data.workers=3",
        "callbacks.checkpoints.every_n_steps=7",
    ):
        assert settings(same).run_name() == base
    for other in (
        "seed=2",
        "model.embedding=100",
        "data.withhold=[obj_rel]",
        "trainer.max_epochs=9",
        "model/scheduler=one_cycle",
        "callbacks.checkpoints.monitor=valid/loss",
        "trainer=ddp_cpu",  # two processes read other batches
    ):
        assert settings(other).run_name() != base


def test_a_runs_name_depends_on_the_number_of_processes(monkeypatch):
    """Devices × nodes, `auto` resolved; one process is not named, as before."""
    base = settings().run_name()
    two = settings("trainer=ddp_cpu").run_name()
    four = settings("trainer=ddp_cpu", "trainer.devices=4").run_name()
    assert len({base, two, four}) == 3
    assert settings("trainer=ddp_cpu", "trainer.num_nodes=2").run_name() == four  # two devices on each of two nodes
    assert settings("trainer=ddp_cpu", "trainer.devices=1").run_name() == base
    assert settings("trainer=ddp_cpu", "trainer.devices=auto").run_name() == base  # a CPU is one device
    monkeypatch.setattr("torch.cuda.device_count", lambda: 4)
    for devices in ("auto", "-1", "'4'", "4", "'0,1,2,5'"):
        assert settings(f"trainer.devices={devices}", "trainer.accelerator=gpu").run_name() == four
    assert settings("trainer.devices='1,'", "trainer.accelerator=gpu").run_name() == base  # the second GPU, not all four


@pytest.mark.parametrize("file", sorted((CONF / "probes").glob("*.yaml")))
def test_every_collection_asks_by_the_default_protocol(file):
    from concord.probes.contract import Rules

    chosen = settings(f"probes={file.stem}", *(["probes.path=x"] if file.stem not in ("agreement", "none") else [])).probes
    assert chosen.name == file.stem
    if file.stem != "none":
        assert make_contract(chosen.protocol, chosen.given_rules).rules == Rules()


def test_a_probe_can_be_monitored_only_if_every_validation_has_it():
    from concord.probes.probe_preparation import monitorable_metrics, read_run_probes

    probes = read_run_probes(settings("probes.limit=8"))
    metrics = monitorable_metrics(probes)
    assert "probe/de/agreement/mean/accuracy_dev" in metrics
    assert "probe/de/agreement/prep/accuracy" in metrics
    assert read_run_probes(settings("probes=none")) == []
    wrong = settings("callbacks.checkpoints.monitor=probe/de/agreement/mean/acuracy", "callbacks.checkpoints.mode=max")
    with pytest.raises(UserError, match="available: valid/perplexity, valid/loss, probe/de/agreement/mean/accuracy"):
        read_recipe(wrong).check(metrics)


def test_further_collections_have_their_own_path_and_rules_and_one_schedule():
    given = "probes.also=[suites,{collection: own, name: mine, path: my/sets, rules: {ties: wrong}}]"
    chosen = settings(given, "probes.schedule.every_epochs=2", "probes.sample=7").probes
    first, suites, mine = all_collections(chosen)
    assert first is chosen
    assert (suites.name, suites.path, suites.format) == ("suites", "suites/{lang}", "syntaxgym")
    assert (mine.name, mine.path, mine.given_rules) == ("mine", "my/sets", {"ties": "wrong", "capitalize": "auto"})
    assert {each.schedule.every_epochs for each in (suites, mine)} == {2}
    assert {each.sample for each in (suites, mine)} == {7}
    assert settings("probes.also=[]").run_name() == settings().run_name() != settings("probes.also=[suites]").run_name()
    with pytest.raises(UserError, match="probes.also: no collection 'suits'; available: agreement, blimp"):
        all_collections(settings("probes.also=[suits]").probes)

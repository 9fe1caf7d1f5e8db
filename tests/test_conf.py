"""Every shipped YAML composes, says what it is, and describes a model that can be built."""

from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

import train

CONF = Path(__file__).resolve().parents[1] / "conf"
GROUPS = ["lang", "model", "model/optimizer", "model/scheduler", "data", "tokenizer", "trainer", "logger", "callbacks", "paths"]
CHOICES = [f"{group}={file.stem}" for group in [*GROUPS, "experiment", "debug"] for file in sorted((CONF / group).glob("*.yaml"))]


def settings(*overrides):
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return OmegaConf.to_container(compose("train", list(overrides)), resolve=True)


@pytest.mark.parametrize("choice", CHOICES)
def test_every_choice_composes_into_a_recipe(choice):
    made = settings(choice)
    train.recipe_of(made).check()
    assert train.name_of(made).startswith(f"{made['lang']['code']}-{made['model']['name']}-{made['data']['name']}-s1-")


@pytest.mark.parametrize("file", sorted(CONF.rglob("*.yaml")))
def test_every_file_begins_by_saying_what_it_is(file):
    first = next(line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("# @package"))
    assert first.startswith("# ")
    assert len(first) > 10


@pytest.mark.parametrize(("experiment", "parameters"), [("li2021_lstm", 47_900_241), ("li2021_transformer", 126_674_513)])
def test_the_published_presets_have_the_published_sizes(experiment, parameters):
    import torch

    from lm.model import LanguageModel

    recipe = train.recipe_of(settings(f"experiment={experiment}"))
    with torch.device("meta"):
        assert LanguageModel(recipe.architecture_for(50_001)).parameter_count() == parameters


def test_the_clams_presets_differ_as_paper_and_scripts_do():
    paper, code = (settings(f"experiment={name}")["model"] for name in ("clams2020", "clams2020_code"))
    assert (paper["embedding"], paper["scheduler"]["against"]) == (800, "previous")
    assert (code["embedding"], code["scheduler"]["against"]) == (200, "best")
    assert paper["optimizer"] == code["optimizer"] == {"name": "sgd", "lr": 20, "momentum": 0, "weight_decay": 0}
    assert paper["tied"] is code["tied"] is False


def test_a_runs_name_depends_on_what_changes_the_result_alone():
    base = train.name_of(settings())
    for same in ("trainer=ddp_cpu", "logger=none", "paths.runs=elsewhere", "tags=[a]", "trainer.log_every_n_steps=7"):
        assert train.name_of(settings(same)) == base
    for other in ("seed=2", "model.embedding=100", "data.withhold=[obj_rel]", "trainer.max_epochs=9", "model/scheduler=constant"):
        assert train.name_of(settings(other)) != base

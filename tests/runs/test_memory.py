"""A model that is far too large is refused with the numbers before anything of its size is built."""

import pytest
import torch
from concord.data.batches import Shape
from concord.errors import UserError
from concord.lm.model import Architecture, LanguageModel
from concord.runs.fit import read_recipe
from concord.runs.run_preparation import check_memory
from concord.runs.training_memory import estimate_memory, longest_batch, must_fit
from training_runs import NETWORKS, settings

ADAM = {"name": "adamw", "lr": 0.1}


def architecture(words: int = 1000, embedding: int = 32, **network: int) -> Architecture:
    return Architecture(words, embedding, True, 0.0, 0.1, NETWORKS["lstm"] | network)


def test_weights_gradients_and_what_the_optimiser_remembers_are_counted_exactly():
    made = architecture()
    need = estimate_memory(made, ADAM, tokens=10)
    model = LanguageModel(made)
    optimiser = torch.optim.AdamW(model.parameters())
    inputs = torch.zeros(2, 5, dtype=torch.long)
    model(inputs)[0].sum().backward()
    optimiser.step()
    held = sum(value.numel() * value.element_size() for value in model.parameters())
    moments = [v for state in optimiser.state.values() for k, v in state.items() if k != "step"]
    assert need.weights == need.gradients == held
    assert need.optimiser == sum(value.numel() * value.element_size() for value in moments)
    assert estimate_memory(made, {"name": "sgd", "momentum": 0}, 10).optimiser == 0
    assert estimate_memory(made, {"name": "sgd", "momentum": 0.9}, 10).optimiser == held


def test_states_are_of_the_right_size():
    """Against what autograd really keeps: within a factor of three."""
    made = architecture(hidden=64)
    kept: dict[int, int] = {}

    def count(value: torch.Tensor) -> torch.Tensor:
        kept[value.untyped_storage().data_ptr()] = value.untyped_storage().nbytes()
        return value

    model = LanguageModel(made)
    weights = {value.untyped_storage().data_ptr() for value in model.parameters()}
    with torch.autograd.graph.saved_tensors_hooks(count, lambda value: value):
        model.contexts(torch.zeros(16, 20, dtype=torch.long))
    real = sum(size for place, size in kept.items() if place not in weights)
    assert real / 3 < estimate_memory(made, ADAM, tokens=16 * 20).states < 3 * real


def test_what_does_not_fit_is_refused_with_the_numbers(monkeypatch):
    monkeypatch.setattr("concord.runs.training_memory.available_memory", lambda _: (10**9, "this machine"))
    must_fit(architecture(), ADAM, 100, "cpu", 1)
    told = r"about 4\.4 GB \(weights .*, gradients .*, optimiser .*, logits .*, states .*\), and this machine has 1.0 GB free"
    with pytest.raises(UserError, match=told):
        must_fit(architecture(words=1_000_000, embedding=200), ADAM, 100, "cpu", 1)
    with pytest.raises(UserError, match="has 0.5 MB free for each of 2000 processes"):
        must_fit(architecture(), ADAM, 100, "cpu", 2000)


def test_it_is_found_before_the_model_is_built_and_force_tries_it():
    huge = ["model.embedding=4000000", "trainer.accelerator=cpu"]
    refused = settings(*huge)
    with pytest.raises(UserError, match="or try it with force=true"):
        check_memory(refused, read_recipe(refused), 50_000, 20)
    forced = settings(*huge, "force=true")
    check_memory(forced, read_recipe(forced), 50_000, 20)
    usual = settings("trainer.accelerator=cpu")
    check_memory(usual, read_recipe(usual), 5_000, 20)


def test_a_stream_has_windows_and_sentences_have_lengths():
    assert longest_batch(Shape(8, window=35), 100) == 280
    assert longest_batch(Shape(8), 100) == 800

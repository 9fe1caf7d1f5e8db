"""A model that is far too large is refused with the numbers before anything of its size is built."""

import pytest
import torch
from concord.data.batches import Shape
from concord.errors import UserError
from concord.lm.loss import rows_at_once
from concord.lm.model import Architecture, LanguageModel
from concord.runs.fit import read_recipe
from concord.runs.run_preparation import check_memory
from concord.runs.training_memory import BatchSize, estimate_memory, largest_batch, must_fit
from training_runs import NETWORKS, settings

ADAM = {"name": "adamw", "lr": 0.1}


def architecture(words: int = 1000, embedding: int = 32, **network: int) -> Architecture:
    return Architecture(words, embedding, True, 0.0, 0.1, NETWORKS["lstm"] | network)


def test_weights_gradients_and_what_the_optimiser_remembers_are_counted_exactly():
    made = architecture()
    need = estimate_memory(made, ADAM, BatchSize(2, 5))
    model = LanguageModel(made)
    optimiser = torch.optim.AdamW(model.parameters())
    inputs = torch.zeros(2, 5, dtype=torch.long)
    model(inputs)[0].sum().backward()
    optimiser.step()
    held = sum(value.numel() * value.element_size() for value in model.parameters())
    moments = [v for state in optimiser.state.values() for k, v in state.items() if k != "step"]
    assert need.weights == need.gradients == held
    assert need.optimiser == sum(value.numel() * value.element_size() for value in moments)
    assert estimate_memory(made, {"name": "sgd", "momentum": 0}, BatchSize(2, 5)).optimiser == 0
    assert estimate_memory(made, {"name": "sgd", "momentum": 0.9}, BatchSize(2, 5)).optimiser == held


def test_a_gpu_in_mixed_precision_holds_more_rows_of_logits_at_once():
    made = architecture(words=50_000)
    batch = BatchSize(100, 40)
    on_cpu, on_gpu = (
        estimate_memory(made, ADAM, batch, rows_at_once=rows_at_once(device, mixed=True)).logits for device in ("cpu", "cuda")
    )
    assert on_cpu == 3 * 4 * 256 * 50_000
    assert on_gpu == 3 * 4 * 2048 * 50_000


@pytest.mark.parametrize(("network", "length"), [("lstm", 20), ("transformer", 20), ("transformer", 400)])
def test_states_are_of_the_right_size(network, length):
    """Against what autograd really keeps: within a factor of three."""
    made = Architecture(1000, 32, True, 0.0, 0.1, NETWORKS[network])
    kept: dict[int, int] = {}

    def count(value: torch.Tensor) -> torch.Tensor:
        kept[value.untyped_storage().data_ptr()] = value.untyped_storage().nbytes()
        return value

    model = LanguageModel(made)
    weights = {value.untyped_storage().data_ptr() for value in model.parameters()}
    with torch.autograd.graph.saved_tensors_hooks(count, lambda value: value):
        model.contexts(torch.zeros(16, length, dtype=torch.long))
    real = sum(size for place, size in kept.items() if place not in weights)
    assert real / 3 < estimate_memory(made, ADAM, BatchSize(16, length)).states < 3 * real


def fits(made: Architecture, processes: int, sentences: int = 10, length: int = 10) -> None:
    batch = BatchSize(sentences, length)
    must_fit(estimate_memory(made, ADAM, batch), "cpu", processes, batch)


def test_what_does_not_fit_is_refused_with_the_numbers(monkeypatch):
    monkeypatch.setattr("concord.runs.training_memory.available_memory", lambda _: (10**9, "this machine"))
    fits(architecture(), 1)
    told = r"about 4\.4 GB \(weights .*, gradients .*, optimiser .*, logits .*, states .*\), but this machine has 1.0 GB free"
    with pytest.raises(UserError, match=told):
        fits(architecture(words=1_000_000, embedding=200), 1)
    with pytest.raises(UserError, match="has 0.5 MB free for each of 2000 processes"):
        fits(architecture(), 2000)


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
    assert largest_batch(Shape(8, window=35), 100) == (8, 35)
    assert largest_batch(Shape(8), 100) == (8, 100)


def test_a_sentence_that_a_transformer_could_not_hold_is_found_before_the_run(monkeypatch):
    monkeypatch.setattr("concord.runs.training_memory.available_memory", lambda _: (10**10, "this machine"))
    made = Architecture(1000, 32, True, 0.0, 0.1, NETWORKS["transformer"])
    fits(made, 1, 32, 100)
    told = r"states .*\) for sentences of 5,000 words \(the longest\), but .* \(split such sentences, data.window=35"
    with pytest.raises(UserError, match=told):
        fits(made, 1, 32, 5000)

"""Checkpoints that are damaged, hostile or diverged: one line each, nothing used silently, no memory beyond the file."""

import random
import resource
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import torch
from concord.data.vocabulary import Vocabulary
from concord.lm.checkpoints import CheckpointError, load_model, read_checkpoint
from concord.lm.model import Architecture, initialise_model

NETWORKS = {
    "lstm": {"name": "lstm", "hidden": 6, "layers": 1, "dropout": 0.0},
    "transformer": {
        "name": "transformer",
        "layers": 1,
        "heads": 2,
        "feedforward": 8,
        "dropout": 0.0,
        "norm_first": True,
        "final_norm": True,
    },
}


def saved(kind: str = "lstm", **changes) -> dict:
    words = ["<eos>", "<unk>", "der", "Gast", "lacht"]
    architecture = Architecture(len(words), 4, tied=True, dropout=0.0, init=0.1, network=NETWORKS[kind])
    weights = {f"model.{name}": value for name, value in initialise_model(architecture, seed=1).state_dict().items()}
    about = {"architecture": architecture.plain() | changes, **Vocabulary(words).plain()}
    return {"state_dict": weights, "concord": about, "training": {"words_seen": 3}}


def write(file: Path, content: object) -> Path:
    torch.save(content, file)
    return file


@pytest.mark.parametrize("network", list(NETWORKS))
def test_no_flipped_bit_gives_another_model(tmp_path, network):
    intact = write(tmp_path / "a.ckpt", saved(network)).read_bytes()
    model, vocabulary, about = load_model(tmp_path / "a.ckpt")
    draw, refused = random.Random(0), 0
    for _ in range(200):
        damaged = bytearray(intact)
        damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
        (tmp_path / "b.ckpt").write_bytes(damaged)
        try:
            again, words, told = load_model(tmp_path / "b.ckpt")
        except CheckpointError as error:
            assert str(error).startswith(str(tmp_path / "b.ckpt"))
            refused += 1
            continue
        # A bit between the parts, where torch puts padding: everything is as it was.
        assert words.words == vocabulary.words
        assert told == about
        assert all(torch.equal(value, again.state_dict()[name]) for name, value in model.state_dict().items())
    assert refused > 50


def test_numbers_that_are_not_finite_are_refused(tmp_path):
    content = saved()
    content["state_dict"]["model.network.layers.weight_hh_l0"][2, 1] = torch.nan
    with pytest.raises(CheckpointError, match="network.layers.weight_hh_l0 holds numbers that are not finite"):
        load_model(write(tmp_path / "a.ckpt", content))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vocabulary_size": 10**12}, "it claims vocabulary_size 1,000,000,000,000, but holds"),
        ({"vocabulary_size": 50}, "the weights do not match the model it describes: decoder.bias is"),
        ({"network": NETWORKS["lstm"] | {"layers": 10**9}}, "it claims layers 1,000,000,000, but holds"),
        ({"network": NETWORKS["lstm"] | {"layers": 2}}, "bias_hh_l1 is missing"),
        ({"network": NETWORKS["lstm"] | {"layers": -1}}, "it claims layers -1"),
        ({"network": NETWORKS["lstm"] | {"depth": 2}}, "no model can be built"),
        ({"network": {"name": "os"}}, "no network .os."),
        ({"height": 3}, "does not say what it holds"),
    ],
)
def test_what_it_claims_is_compared_before_it_is_built(tmp_path, changes, message):
    with pytest.raises(CheckpointError, match=message):
        load_model(write(tmp_path / "a.ckpt", saved(**changes)))


def test_a_weight_that_is_larger_than_its_file_is_refused(tmp_path):
    content = saved(vocabulary_size=100, embedding=4)
    content["concord"]["vocabulary"] = ["<eos>", "<unk>", *map(str, range(98))]
    for name in ("model.embedding.weight", "model.decoder.weight"):
        content["state_dict"][name] = torch.zeros(1, 4).expand(100, 4)
    content["state_dict"]["model.decoder.bias"] = torch.zeros(100)
    with pytest.raises(CheckpointError, match="is larger than its data in the file"):
        load_model(write(tmp_path / "a.ckpt", content))


def test_a_few_bytes_take_no_memory(tmp_path):
    """A pickle that announces a text of 1.3 GB, for which the reader of the old format makes room."""
    (tmp_path / "a.ckpt").write_bytes(b"\x80\x02X" + struct.pack("<I", 1_300_000_000) + b"ab")
    program = (
        "import resource, sys\nfrom concord.lm.checkpoints import read_checkpoint\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n    read_checkpoint(sys.argv[1])\nexcept ValueError as error:\n    print(error)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    limit = 8 << 30
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "a.ckpt")],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    message, grown = done.stdout.splitlines()
    assert "cannot be read as a checkpoint (BadZipFile)" in message
    assert int(grown) < 50_000  # kB


def test_an_archive_that_unpacks_to_more_than_it_is_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.ckpt", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/data.pkl", bytes(50_000_000))
    with pytest.raises(CheckpointError, match="it is compressed"):
        read_checkpoint(tmp_path / "a.ckpt")

"""`python train.py`, as a user meets it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import yaml
from concord.commands import train as train_module
from concord.data.text import TextError
from concord.lm.checkpoints import load_model, read_checkpoint
from concord.runs.metrics_file import read
from concord.runs.run_folder import RunFolder
from concord.runs.stopping import explain_failures
from training_runs import CORPORA, ROOT, TINY, WITHOUT_PROBES, clean, settings, train


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    overrides = [o for o in TINY if o != "logger=none"]
    return folder, train(folder, *overrides, "data.limit=300", "seed=7", "tags=[pilot]")


def only_run(folder: Path) -> Path:
    (run,) = (file for file in (folder / "runs").iterdir() if file.is_dir())
    return run


def test_a_run_leaves_everything_in_its_folder(finished):
    folder, done = finished
    run = only_run(folder)
    assert re.fullmatch(r"de-lstm-grammar-s7-[0-9a-f]{8}", run.name)
    names = {"config.yaml", "provenance.json", "metrics.csv", "checkpoints", "train.log", "DONE"}
    assert names <= {file.name for file in run.iterdir()}
    assert yaml.safe_load((run / "config.yaml").read_text())["seed"] == 7
    provenance = json.loads((run / "provenance.json").read_text())
    assert provenance["starts"][0]["versions"]["torch"] == torch.__version__
    assert provenance["starts"][0]["threads"] == 1
    assert "test/perplexity" in done.stdout
    assert "wandb sync" in done.stdout
    said = (run / "train.log").read_text(encoding="utf-8")
    assert "parameters (lstm)" in said
    assert "challenge sentences" in said
    assert provenance["corpus"]["train"]["sentences"] == 300


def test_perplexity_falls_and_words_are_counted(finished):
    rows = read(only_run(finished[0]) / "metrics.csv")
    perplexities = [row["valid/perplexity"] for row in rows if "valid/perplexity" in row]
    assert len(perplexities) == 3
    assert perplexities == sorted(perplexities, reverse=True)
    seen = [row["progress/words_seen"] for row in rows]
    assert seen == sorted(seen)
    assert rows[-1]["test/perplexity"] > 1


def test_wandb_has_the_same_numbers(finished):
    """Read back with W&B's own tool."""
    run = only_run(finished[0])
    (segment,) = (run / "wandb").glob("offline-run-*")
    (record,) = segment.glob("*.wandb")
    tool = Path(sys.executable).parent / "wandb"
    shown = subprocess.run(
        [tool, "leet", "inspect", "--json", record], capture_output=True, text=True, check=True, env=clean(run)
    )
    history = []
    for line in shown.stdout.splitlines():
        text = line.strip()
        if text.startswith("{") and "valid/perplexity" in text and "progress/words_seen" in text:
            history.append(text)
    ours = [row for row in read(run / "metrics.csv") if "valid/perplexity" in row]
    assert len(history) >= len(ours)
    for row in ours:
        assert any(str(row["valid/perplexity"])[:12] in text and str(int(row["progress/words_seen"])) in text for text in history)


def test_a_checkpoint_is_enough_to_rebuild_the_model(finished):
    run = only_run(finished[0])
    saved = torch.load(run / "checkpoints/best.ckpt", weights_only=True)
    model, vocabulary, about = load_model(run / "checkpoints/best.ckpt")
    assert about["language"]["code"] == "de"
    assert len(vocabulary) == model.architecture.vocabulary_size
    assert torch.equal(model.embedding.weight, saved["state_dict"]["model.embedding.weight"])
    assert not model.training


def test_the_same_command_again_shows_the_result_and_does_nothing(finished):
    folder, _ = finished
    before = (only_run(folder) / "metrics.csv").read_bytes()
    (only_run(folder) / "report.html").unlink()  # as if it had been killed between its end and its page
    overrides = [o for o in TINY if o != "logger=none"]
    again = train(folder, *overrides, "data.limit=300", "seed=7", "tags=[pilot]")
    assert "This run is finished. To run it again from scratch: overwrite=true" in again.stdout
    assert (only_run(folder) / "metrics.csv").read_bytes() == before
    assert (only_run(folder) / "report.html").exists()


@pytest.mark.slow
def test_one_seed_is_one_run_and_another_is_another(tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        train(tmp_path, *TINY, f"name={name}", f"seed={seed}", "trainer.max_epochs=1")
    losses = {name: [row.get("train/loss") for row in read(tmp_path / f"runs/{name}/metrics.csv")] for name in "abc"}
    assert losses["a"] == losses["b"] != losses["c"]


@pytest.mark.slow
def test_a_run_is_not_disturbed_by_other_settings_or_a_second_start(finished, tmp_path):
    run = only_run(finished[0])
    before = (run / "metrics.csv").read_bytes()
    done = train(finished[0], *TINY, f"name={run.name}", "seed=8", check=False)
    assert done.returncode == 1
    assert "made with different settings:" in done.stderr
    assert "seed 7 there, 8 here" in done.stderr
    longer = train(finished[0], *TINY, "data.limit=300", "seed=7", f"name={run.name}", "trainer.max_epochs=9", check=False)
    assert "trainer.max_epochs 3 there, 9 here" in longer.stderr
    (run / "DONE").rename(tmp_path / "DONE")
    same = [o for o in TINY if o != "logger=none"] + ["data.limit=300", "seed=7", "tags=[pilot]"]
    unfinished = train(finished[0], *same, check=False)
    with RunFolder(run).locked():
        locked = train(finished[0], *same, "ckpt_path=auto", check=False)
    (tmp_path / "DONE").rename(run / "DONE")
    assert (
        "this run was started before and is not finished. Resume it with ckpt_path=auto, or start afresh with overwrite=true"
        in unfinished.stderr
    )
    assert "another process is training this run" in locked.stderr
    assert (run / "metrics.csv").read_bytes() == before


def test_overwriting_removes_runs_and_nothing_else(tmp_path):
    (tmp_path / "runs/y").mkdir(parents=True)
    (tmp_path / "runs/y/thesis.tex").write_text("mine")
    done = train(tmp_path, *TINY, "name=y", "overwrite=true", check=False)
    assert "overwrite=true removes only runs, and this folder is not one (it has no config.yaml)" in done.stderr
    assert (tmp_path / "runs/y/thesis.tex").exists()


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["lang=xx"], "error: lang=xx: no such choice; available: any, de, en, es, fr, he, multi, ru"),
        (["model=gru"], "error: model=gru: no such choice; available: lstm, transformer"),
        (["modle.embedding=3"], "error: modle.embedding: no such setting; did you mean model.embedding?"),
        (["name=${nothing}"], "error: name: Interpolation key 'nothing' not found; write a value, or"),
        (["paths.runs=/dev/null/runs"], "error: /dev/null/runs: Not a directory; choose another place"),
        (["lang=[de,fr]"], "error: lang=[de,fr]: only the last of these would be used; write lang=multi lang.languages=[de,fr]"),
        (["data=text", "data.path=/no/such.txt"], "error: /no/such.txt: no such file; give data.path= text files"),
    ],
)
def test_wrong_input_is_told_at_once(tmp_path, overrides, message):
    done = train(tmp_path, *TINY, *overrides, check=False)
    assert done.returncode == 1
    assert message in done.stderr + done.stdout
    assert done.stderr.count("\n") == 1
    assert not [file for file in (tmp_path / "runs").glob("*") if file.is_dir()]


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["data=text"], "error: data=text needs data.path="),
        (["data.withhold=[passive]"], "cannot withhold passive: no rule has this tag; tags here:"),
        (["model.optimizer.name=lion"], ": no such optimiser; available: sgd, adam, adamw"),
        (["model=transformer", "model.embedding=30"], "must be a multiple of the number of heads"),
        (["trainer.max_epochs=0"], "trainer.max_epochs=0: must be a whole number of at least 1"),
        (["data.limit=0"], "data.limit=0: must be a whole number of at least 1, or null"),
        (["tokenizer.vocabulary_size=0"], "tokenizer.vocabulary_size=0: must be a whole number above 1, or null"),
        (["tokenizer.counted_in=[trian]"], "tokenizer.counted_in=trian: must be one of train, valid, test"),
        (["ckpt_path=auto", "overwrite=true"], "one resumes the run, the other removes it; choose one"),
        (["ckpt_path=/no/such.ckpt"], "error: /no/such.ckpt: no such checkpoint"),
        (["callbacks.checkpoints.mode=most"], "callbacks.checkpoints.mode=most: must be one of min, max"),
    ],
)
def test_wrong_settings_are_told_the_remedy(tmp_path, capsys, overrides, message):
    """In this process, to save the time of starting one."""
    places = [f"paths.runs={tmp_path}/runs", f"paths.cache={CORPORA}"]
    with pytest.raises(SystemExit) as stop, explain_failures():
        train_module.train(settings(*TINY, *places, *overrides))
    assert stop.value.code == 1
    out, err = capsys.readouterr()
    assert message in err
    assert not out  # one line, not at the end of a page of settings
    assert not [file for file in (tmp_path / "runs").glob("*") if file.is_dir()]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "x.txt: no such file; give data.path= text files"),
        (b"", "x.txt: no sentence found; the corpus is empty"),
        (b"\n \n\n", "x.txt: no sentence found; the corpus is empty"),
        (b"\x98\xff\x00binary", "x.txt:1: not UTF-8: byte 0x98 at offset 0; convert the file"),
    ],
)
def test_a_text_that_is_none_is_told_before_anything_is_shown(tmp_path, capsys, content, message):
    if content is not None:
        (tmp_path / "x.txt").write_bytes(content)
    places = [f"paths.runs={tmp_path}/runs", f"paths.cache={tmp_path}/cache", f"data.path={tmp_path}/x.txt"]
    with pytest.raises(SystemExit), explain_failures():
        train_module.train(settings(*TINY, "data=text", *places))
    out, err = capsys.readouterr()
    assert not out
    assert message in err


def test_a_missing_text_is_told_before_the_sets_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr("concord.runs.run_preparation.read_run_probes", lambda *_: pytest.fail("reads the sets"))
    places = [f"paths.runs={tmp_path}/runs", f"paths.cache={tmp_path}/cache", f"data.path={tmp_path}/x.txt"]
    with pytest.raises(TextError, match=r"x\.txt: no such file"):
        train_module.train(settings(*TINY, "data=text", *places))


def test_a_loss_that_is_no_number_stops_the_run_and_keeps_the_last_good_checkpoint(tmp_path):
    # Some steps go well before the weights run away, and a checkpoint follows every one of them.
    wild = ["model/optimizer=sgd", "model/scheduler=constant", "model.optimizer.lr=30", "trainer.gradient_clip_val=null"]
    done = train(tmp_path, *TINY, "callbacks.checkpoints.every_n_steps=1", "name=x", *wild, check=False)
    assert done.returncode == 1
    stopped = re.search(r"error: the loss is (nan|inf) at step (\d+)", done.stderr)
    assert stopped
    assert not (tmp_path / "runs/x/DONE").exists()
    last = tmp_path / "runs/x/checkpoints/last.ckpt"
    assert read_checkpoint(last)["global_step"] == int(stopped[2]) > 1
    assert all(weight.isfinite().all() for weight in load_model(last)[0].state_dict().values())


def test_a_checkpoint_of_another_shape_is_refused_before_training(finished, tmp_path):
    best = only_run(finished[0]) / "checkpoints/best.ckpt"
    done = train(tmp_path, *TINY, "data.limit=300", "seed=7", f"ckpt_path={best}", "model.embedding=24", check=False)
    assert done.returncode == 1
    assert "made with different settings: model.embedding 16 there, 24 here" in done.stderr


@pytest.mark.slow
def test_summary_prints_sizes_and_stops(tmp_path):
    done = train(tmp_path, "debug=summary")
    assert re.search(r"[\d,]+ parameters \(lstm\)", done.stdout)
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
@pytest.mark.parametrize("debug", ["fast", "overfit", "profile"])
def test_debugging_runs(tmp_path, debug):
    done = train(tmp_path, f"debug={debug}")
    assert "test/perplexity" in done.stdout
    if debug == "overfit":
        losses = [row["train/loss"] for row in read(only_run(tmp_path) / "metrics.csv") if "train/loss" in row]
        assert losses[-1] < 0.5


def test_text_of_ones_own(tmp_path):
    text = tmp_path / "mine.txt"
    text.write_text("Der Hund sieht den Esel. Der Esel ruft laut!\n" * 60, encoding="utf-8")
    done = train(tmp_path, *WITHOUT_PROBES, "data=text", f"data.path={text}", "data.limit=null", "name=x")
    assert "vocabulary 11 words" in done.stdout
    assert load_model(tmp_path / "runs/x/checkpoints/best.ckpt")[2]["clitics"] == "joined"


@pytest.mark.slow
def test_a_run_whose_text_has_changed_is_not_taken_for_finished(tmp_path):
    text = tmp_path / "mine.txt"
    text.write_text("Der Hund sieht den Esel. Der Esel ruft laut!\n" * 30, encoding="utf-8")
    same = [*WITHOUT_PROBES, "data=text", f"data.path={text}", "data.limit=null", "name=x", "trainer.max_epochs=1"]
    train(tmp_path, *same)
    text.touch()  # as a copy or a backup does
    assert "is finished" in train(tmp_path, *same).stdout
    text.write_text("Der Hund ruft den Esel. Der Esel sieht nichts!\n" * 30, encoding="utf-8")
    done = train(tmp_path, *same, check=False)
    assert done.returncode == 1
    assert "its corpus has changed since" in done.stderr


def test_lightning_does_not_bring_what_nobody_asked_for():
    probe = "import sys; from concord.lm.fast_import import UNUSED, import_lightning; import_lightning(); import torchmetrics\n"
    probe += "print([name for name in UNUSED if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stderr


def test_help_is_quick_and_imports_nothing_heavy():
    probe = "import sys; sys.argv = ['train.py', '--help']; import runpy\ntry: runpy.run_path('train.py', run_name='__main__')\n"
    probe += "except SystemExit: pass\nprint('torch' in sys.modules, 'pytorch_lightning' in sys.modules, 'wandb' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False False False"
    assert "concord train lang=fr model=transformer" in done.stdout

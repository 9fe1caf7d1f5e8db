"""Probing while a model learns: it costs nothing but time, and says what evaluate.py says."""

import csv
import json
import math
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from concord.commands import evaluate as evaluate_command
from concord.data.corpus import read_corpus
from concord.errors import UserError
from concord.probes.result_files import read_summary
from concord.runs.metrics_file import read
from concord.runs.run_folder import RunFolder
from concord.runs.run_preparation import prepare_run
from concord.settings.overrides import read_composed, read_composed_evaluation
from concord.terminal import keep_log
from hydra import compose, initialize_config_dir
from pyarrow import parquet
from training_runs import ROOT, TINY, WITHOUT_PROBES, clean, rows_without_times, same_weights, train

MEAN = "probe/de/agreement/mean"


def settings(config: str, folder: Path, *overrides: str) -> Any:
    places = [f"paths.results={folder}/results", f"paths.runs={folder}/runs", f"paths.cache={folder}/cache"]
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        composed = compose(config, [*places, *overrides])
        return read_composed(composed) if config == "train" else read_composed_evaluation(composed)


def evaluate(folder: Path, *overrides: str) -> str:
    """What `python evaluate.py …` says, in this process."""
    with keep_log(first=True) as log:
        evaluate_command.evaluate(settings("evaluate", folder, *overrides))
        return "\n".join(record.getMessage() for record in log.said)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("watched")
    train(folder, *TINY, "name=on", "probes.sample=8", f"paths.cache={folder}/cache")
    return folder


def test_training_is_the_same_to_the_bit_with_probes_and_without(finished: Path) -> None:
    train(finished, *WITHOUT_PROBES, "name=off")
    on, off = (finished / "runs" / name for name in ("on", "off"))
    assert same_weights(on / "checkpoints/last.ckpt", off / "checkpoints/last.ckpt")
    losses = [[row["train/loss"] for row in read(run / "metrics.csv") if "train/loss" in row] for run in (on, off)]
    assert losses[0] == losses[1]
    assert not (off / "probes").exists()


def test_items_say_how_frequent_their_forms_were_in_what_the_model_read(finished: Path) -> None:
    (text,) = (read_corpus(folder) for folder in (finished / "cache").iterdir() if folder.is_dir())
    seen = Counter(text.first(60).train.ids.tolist())  # TINY has data.limit=60
    items = parquet.read_table(finished / "runs/on/probes/final-de-agreement/items.parquet").to_pylist()
    forms = [(item["good"][slice(*item["good_target"])], item["good_frequency"]) for item in items]
    single = {form[0]: frequency for form, frequency in forms if len(form) == 1}
    assert single == {form: seen[text.vocabulary.encode_word(form)[0]] for form in single}
    assert max(single.values()) > 0


def test_every_validation_has_the_probes_in_its_row(finished: Path) -> None:
    rows = [row for row in read(finished / "runs/on/metrics.csv") if f"{MEAN}/accuracy" in row]
    assert rows[0]["step"] == 0  # the untrained model
    validated = [row for row in rows if "valid/perplexity" in row]
    assert len(validated) == 3
    inside = [row for row in rows if "valid/perplexity" not in row]
    assert [round(row["progress/words_seen"]) > 0 for row in inside] == [False, True, True, True, True]
    assert all(row["probe/de/agreement/prep/n"] == 8 for row in rows)
    assert all(0 <= row["probe/de/agreement/prep/mismatched"] <= 1 for row in rows)
    seven = [name for name in rows[0] if name.endswith("/accuracy") and "/mean/" not in name]
    for row in rows:
        known = [row[name] for name in seven if name in row]
        assert row[f"{MEAN}/accuracy"] == pytest.approx(math.fsum(known) / len(known))


def test_every_verdict_of_every_probe_is_kept(finished: Path) -> None:
    files = sorted((finished / "runs/on/probes").glob("de-agreement-step*.parquet"))
    assert len(files) == 8
    table = parquet.read_table(files[-1])
    rows = read(finished / "runs/on/metrics.csv")
    last = [row for row in rows if "valid/perplexity" in row][-1]
    for construction in ("prep", "subj_rel"):
        own = [row for row in table.to_pylist() if row["construction"] == construction and row["covered"]]
        right = sum(row["verdict"] for row in own) / len(own)
        assert last[f"probe/de/agreement/{construction}/accuracy"] == pytest.approx(right)
        assert all(row["verdict"] == (row["good_score"] > row["bad_score"]) for row in own if not row["tie"])
    about = json.loads(table.schema.metadata[b"concord"])
    assert about["contract"]["label"] == "default"
    assert about["words_seen"] == last["progress/words_seen"]


def test_evaluate_says_what_the_run_said_of_the_same_weights(finished: Path) -> None:
    done = evaluate(finished, f"ckpt_path={finished}/runs/on/checkpoints/best.ckpt", "probes.limit=12", f"out={finished}/same")
    ours, _ = read_summary(finished / "runs/on/probes/final-de-agreement")
    theirs, about = read_summary(finished / "same")
    assert theirs["on/best"] == ours["model"]
    assert theirs["last noun"] == ours["last noun"]
    assert about["contract"]["label"] == "default"
    assert "protocol   default: each sentence alone" in done
    one, two = (
        parquet.read_table(f"{finished}/{where}/items.parquet") for where in ("runs/on/probes/final-de-agreement", "same")
    )
    known = one.column_names
    assert one.drop(["good_frequency", "bad_frequency"]).equals(two.select([name for name in known if "frequency" not in name]))
    assert (finished / "runs/on/probes/leakage-de-agreement.tsv").read_text(encoding="utf-8").startswith("kind\tconstruction")
    item = one.to_pylist()[0]
    assert item["good_score"] == pytest.approx(sum(item["good_logprobs"]), abs=1e-4)
    assert item["good"][-1] == "."
    with (finished / "same/summary.csv").open(encoding="utf-8") as stream:
        written = {
            row["construction"]: row for row in csv.DictReader(stream) if row["part"] == "all" and row["model"] == "on/best"
        }
    assert float(written["prep"]["accuracy"]) == ours["model"].row("prep").all.accuracy
    assert (written["prep"]["chance"], written["prep"]["ties"]) == ("0.5", str(ours["model"].row("prep").all.ties))


def test_a_finished_run_shows_its_tables_again(finished: Path) -> None:
    again = train(finished, *TINY, "name=on", "probes.sample=8").stdout
    assert re.search(r"de agreement, 84 of [\d,]+ items, best weights", again)
    assert "reference lines" in again
    assert "overwrite=true" in again


def test_a_finished_run_has_a_page_of_its_own_and_says_where(finished: Path) -> None:
    run = finished / "runs/on"
    text = (run / "report.html").read_text(encoding="utf-8")
    assert "<title>on</title>" in text
    assert "each sentence alone, after &lt;eos&gt; with a zero state" in text
    assert f"report     {run}/report.html" in (run / "train.log").read_text(encoding="utf-8")
    assert json.loads((run / "provenance.json").read_text(encoding="utf-8"))["corpus"]["vocabulary_digest"]


def test_evaluate_takes_runs_texts_and_corpora(finished: Path) -> None:
    run = finished / "runs/on"
    curve = evaluate(finished, f"ckpt_path={run}", "probes.limit=4", "probes.constructions=[prep]")
    assert "best" in curve
    assert "last" in curve
    words = evaluate(finished, f"ckpt_path={run}/checkpoints/best.ckpt", "text='der Gast lacht Unsinn.'")
    assert "<unk>" in words.split("Unsinn")[1].splitlines()[0]
    assert "surprisal (bits)" in words
    assert "each sentence alone, after <eos> with a zero state; each word is scored given the words before it" in words
    assert "<unk>: not in the vocabulary" in words
    measured = evaluate(
        finished,
        f"ckpt_path={run}/checkpoints/best.ckpt",
        "probes.limit=4",
        "probes.constructions=prep",
        "data=grammar",
        "data.sentences={train: 5, valid: 5, test: 40}",
        "probes.protocol=clams",
        "probes.rules.unknown=unk",
    )
    assert "test/perplexity " in measured
    assert "test/perplexity_macro " in measured
    assert "protocol   clams+unknown=unk" in measured
    only = evaluate(finished, f"ckpt_path={run}/checkpoints/best.ckpt", "probes=none", "data=grammar", "data.sentences.test=40")
    assert "test/perplexity " in only
    assert re.search(r"test text  on/best: \d+\.\d\d% of its words unknown, predicted as <unk>\n", only)


def test_no_two_evaluations_meet_in_one_place(finished: Path) -> None:
    best, last = (f"{finished}/runs/on/checkpoints/{name}.ckpt" for name in ("best", "last"))
    other = finished / "runs/other/checkpoints"
    shutil.copytree(Path(best).parent, other)
    asked = [
        [f"ckpt_path={best}", "probes.limit=4"],
        [f"ckpt_path={best}", "probes.limit=8"],
        [f"ckpt_path={best}", "probes.limit=4", "probes.constructions=[prep]"],
        [f"ckpt_path={best}", "probes.limit=4", "probes.split=dev"],
        [f"ckpt_path=[{best},{last}]", "probes.limit=4"],
        [f"ckpt_path=[{best},{best}]", "probes.limit=4"],
    ]
    asked.append([f"ckpt_path=[{other}/best.ckpt,{other}/last.ckpt]", "probes.limit=4"])  # of another run
    folders = [evaluate(finished, *each).rpartition("results    ")[2] for each in asked]
    assert len(set(folders)) == len(folders)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ([], "ckpt_path= is required: a checkpoint, several ([a.ckpt,b.ckpt]), or a run folder"),
        (["ckpt_path=nowhere.ckpt"], "nowhere.ckpt: no such checkpoint"),
        (["ckpt_path=conf"], "ckpt_path=conf: no checkpoint in this folder"),
        (["ckpt_path=BEST", "probes.constructions=[perp]"], "no construction perp; available: long_vp_coord"),
        (["ckpt_path=BEST", "probes.protocol=goldbreg"], "probes.protocol=goldbreg: no such protocol"),
        (
            ["ckpt_path=BEST", "probes=clams", "probes.path=not/here"],
            "not/here: no such folder or file of challenge sets",
        ),
        (
            ["ckpt_path=BEST", "lang=ru", "probes.limit=4"],
            "it knows the tested words of no item in the sets of probes=agreement lang=ru",
        ),
        (
            ["ckpt_path=BEST", "probes=none"],
            "probes=none: also give data= (perplexity of a corpus) or text= (surprisal of a sentence)",
        ),
        (["ckpt_path=BEST", "device=gpu"], "device=gpu: must be cpu, cuda (cuda:1 for the second GPU) or mps"),
        (["ckpt_path=BEST", "probes=blimp"], "blimp: these sets are not in German (lang=de); they are in en (English)"),
        (["ckpt_path=BEST", "probes.limit=0"], "probes.limit=0: must be a whole number of at least 1, or null"),
    ],
)
def test_wrong_input_is_told_in_one_line(finished: Path, overrides: list[str], message: str) -> None:
    best = f"{finished}/runs/on/checkpoints/best.ckpt"
    with pytest.raises(UserError, match=re.escape(message)):
        evaluate(finished, *(each.replace("BEST", best) for each in overrides))


def test_the_command_itself_leaves_with_a_line_and_a_status(tmp_path: Path) -> None:
    command = [sys.executable, "evaluate.py", "ckpt_path=nowhere.ckpt"]
    done = subprocess.run(command, cwd=ROOT, env=clean(tmp_path), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.strip() == "error: nowhere.ckpt: no such checkpoint"


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["probes.constructions=[simple]"], "no construction simple; available: long_vp_coord"),
        (["probes.sample=0"], "probes.sample=0: must be a whole number of at least 1, or null"),
        (["probes.schedule.steps=[-1]"], "probes.schedule.steps=-1: must be a whole number of at least 0"),
        (["probes=own", "probes.path=not/here"], "no such folder or file of challenge sets; set probes.path=, or probes=none ("),
        (
            ["tokenizer.vocabulary_size=2"],
            "the vocabulary has the tested words of no item in the sets of probes=agreement lang=de",
        ),
    ],
)
def test_a_wrong_probe_fails_before_anything_is_trained(finished: Path, overrides: list[str], message: str) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        prepare_run(settings("train", finished, *TINY, "name=x", *overrides), RunFolder(finished / "runs/x"), None)
    assert not (finished / "runs/x").exists()


@pytest.mark.slow
def test_two_processes_find_what_one_finds(tmp_path: Path, finished: Path) -> None:
    # The same weights from the start: only the untrained model is compared, training differs in its order of sums.
    train(tmp_path, *TINY, "name=ddp", "probes.sample=8", "trainer=ddp_cpu", "data.batch_size=3")
    one, two = (read(run / "metrics.csv")[0] for run in (finished / "runs/on", tmp_path / "runs/ddp"))
    assert {k: v for k, v in one.items() if k.startswith("probe/")} == {k: v for k, v in two.items() if k.startswith("probe/")}
    done = evaluate(tmp_path, f"ckpt_path={tmp_path}/runs/ddp/checkpoints/best.ckpt", "probes.limit=12", f"out={tmp_path}/same")
    ours, _ = read_summary(tmp_path / "runs/ddp/probes/final-de-agreement")
    theirs, _ = read_summary(tmp_path / "same")
    assert theirs["ddp/best"] == ours["model"], done


@pytest.mark.slow
def test_a_probe_can_choose_the_best_model_and_stop_the_run(tmp_path: Path) -> None:
    name = f"{MEAN}/accuracy_dev"
    train(
        tmp_path,
        *TINY,
        "name=w",
        "probes.sample=8",
        f"callbacks.checkpoints.monitor={name}",
        "callbacks.checkpoints.mode=max",
        f"callbacks.early_stopping.monitor={name}",
        "callbacks.early_stopping.mode=max",
        "callbacks.early_stopping.patience=1",
    )
    rows = [row for row in read(tmp_path / "runs/w/metrics.csv") if "valid/perplexity" in row]
    done = json.loads((tmp_path / "runs/w/DONE").read_text(encoding="utf-8"))
    assert done[f"best {name}"] == max(row[name] for row in rows)
    assert len(rows) == done["epochs"]


@pytest.mark.slow
def test_a_run_that_was_stopped_has_the_same_rows(tmp_path: Path, finished: Path) -> None:
    few = [each for each in TINY if not each.startswith("trainer.max_epochs")]
    train(tmp_path, *few, "name=on", "probes.sample=8", "trainer.max_epochs=2", "model/scheduler=constant")
    train(tmp_path, *few, "name=whole", "probes.sample=8", "trainer.max_epochs=3", "model/scheduler=constant")
    (tmp_path / "runs/on/DONE").unlink()
    train(tmp_path, *few, "name=on", "probes.sample=8", "trainer.max_epochs=3", "model/scheduler=constant", "ckpt_path=auto")
    one, two = (rows_without_times(tmp_path / f"runs/{name}/metrics.csv") for name in ("on", "whole"))
    assert one == two


def test_a_pretrained_model_gets_the_same_tables(finished: Path, tmp_path: Path) -> None:
    from concord.lm.export import export

    export(finished / "runs/on/checkpoints/best.ckpt", tmp_path / "exported")
    chosen = ["model=hf", f"model.name={tmp_path}/exported", "lang=de", "probes.limit=12", "model.start=eos"]
    said = evaluate(tmp_path, *chosen)
    theirs, about = read_summary(next((tmp_path / "results").iterdir()))
    ours, _ = read_summary(finished / "runs/on/probes/final-de-agreement")
    (name,) = (name for name in theirs if name.startswith("exported/causal"))
    assert theirs[name] == ours["model"]
    assert about["models"][name]["options"]["start"] == "eos"
    assert "items kept by each rule" in said
    without = [each for each in chosen if not each.startswith(("model.start", "probes"))]
    surprisals = evaluate(tmp_path, *without, "model.start=none", "text='der Gast lacht.'")
    assert "each sentence alone, with nothing before it" in surprisals
    with pytest.raises(UserError, match="model=hf needs lang="):
        evaluate(tmp_path, "model=hf", f"model.name={tmp_path}/exported")
    with pytest.raises(UserError, match=r"a causal model; probes\.scoring=pll does not suit it"):
        evaluate(tmp_path, *chosen, "probes.scoring=[pll]")


def test_checkpoints_that_disagree_are_counted(finished: Path) -> None:
    said = evaluate(finished, f"ckpt_path={finished}/runs/on", "probes.limit=4", "probes.constructions=[prep]")
    assert "disagreement on the items that both cover" in said

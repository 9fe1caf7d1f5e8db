"""Published checkpoints as one learning curve: from a hub of five revisions, from folders, from a run of ours."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from concord.commands import evaluate as evaluate_command
from concord.errors import UserError
from concord.files import lock
from concord.probes.result_files import read_summary
from concord.report import load
from concord.report.conditions import group_by_condition
from concord.report.gathering import gather_results
from concord.report.learning_curves import accuracy_curve
from concord.runs.metrics_file import read
from concord.settings.overrides import check_trust, read_composed_evaluation
from concord.terminal import keep_log
from concord.watching.curve_folder import point_file
from hub_server import serving_revisions
from hydra import compose, initialize_config_dir
from pretrained_models import save
from training_runs import CORPORA, ROOT, WITHOUT_PROBES, train

MEAN = "probe/en/agreement/mean/accuracy"
ASKED = ("lang=en", "probes.constructions=[simple_agrmt,prep]", "probes.limit=12", "model=hf")
FIVE = ("step0", "step2", "step4", "step8", "step16")


def evaluate(folder: Path, *overrides: str, asked: tuple[str, ...] = ASKED) -> str:
    """What `concord evaluate …` says, in this process."""
    places = [f"paths.results={folder}/results", f"paths.cache={CORPORA}"]
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        settings = read_composed_evaluation(compose("evaluate", [*places, *asked, *overrides]))
    with keep_log(first=True) as log:
        evaluate_command.evaluate(settings)
        return "\n".join(record.getMessage() for record in log.said)


@pytest.fixture(scope="module")
def revisions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Five, of which step4 has the weights of step2 and those of step8 are cut short; and main, whose name tells nothing."""
    folder = tmp_path_factory.mktemp("revisions")
    for seed, name in enumerate(("step0", "step2", "step8", "step16")):
        save("gpt2", folder / name, seed=seed)
    shutil.copytree(folder / "step2", folder / "step4")
    with (folder / "step8" / "model.safetensors").open("r+b") as stream:
        stream.truncate(5000)
    shutil.copytree(folder / "step16", folder / "main")
    return {name: folder / name for name in ("main", *FIVE)}


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, revisions):
    """`hub()`: the real client with a server of the test; `hub(offline=True)` without. `hub.asked`: what the server was asked."""
    from huggingface_hub import close_session, constants

    asked: list[str] = []
    with serving_revisions({"some/model-seed3": revisions}, asked) as address:

        def use(offline: bool = False) -> None:
            close_session()
            asked.clear()
            template = address + "/{repo_id}/resolve/{revision}/{filename}"
            monkeypatch.setattr(constants, "ENDPOINT", address)
            monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
            monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
            monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
            monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)

        use.asked = asked  # type: ignore[attr-defined]
        yield use
        close_session()


def weights_fetched(asked: list[str]) -> int:
    return sum(path.endswith(".safetensors") for path in asked)


def test_five_revisions_are_one_curve(hub, tmp_path: Path, revisions) -> None:
    hub()
    out = tmp_path / "curve"
    chosen = ("model.name=some/model-seed3", "model.revisions=all", f"out={out}")
    said = evaluate(tmp_path, *chosen)
    assert "left out   main: its name gives neither steps nor tokens nor words; use model.pattern= or model.places=" in said
    assert "step2 and step4 share the same file" in said
    assert said.index("share the same file") < said.index("step0      mean")  # before anything is fetched
    assert "broken     step8: cannot be loaded" in said
    assert "step4      same files as step2: not evaluated again" in said
    assert weights_fetched(hub.asked) == 4  # step0, step2, step8, step16
    rows = read(out / "metrics.csv")
    assert [row["step"] for row in rows] == [0, 2, 4, 16]
    assert rows[1][MEAN] == rows[2][MEAN]
    assert not (out / "downloads").exists()  # keep=none
    assert not list((tmp_path / "hub").rglob("*.safetensors"))
    # The numbers are those that evaluate finds for each revision alone.
    for name, row in zip(("step0", "step2", "step4", "step16"), rows, strict=True):
        evaluate(tmp_path, f"model.name={revisions[name]}", f"out={tmp_path / name}")
        tables, _ = read_summary(tmp_path / name)
        assert next(iter(tables.values())).mean.accuracy == row[MEAN]
    # A second time, nothing is done.
    hub()
    files = {file: file.stat().st_mtime_ns for file in out.rglob("*") if file.is_file()}
    again = evaluate(tmp_path, *chosen)
    assert "resumed    5 of 5 are already done" in again
    assert weights_fetched(hub.asked) == 0
    assert files == {file: file.stat().st_mtime_ns for file in out.rglob("*") if file.is_file()}


def test_the_report_shows_a_run_of_its_suite(hub, tmp_path: Path) -> None:
    hub()
    out = tmp_path / "curve"
    evaluate(tmp_path, "model.name=some/model-seed3", "model.revisions=[step0,step2,step16]", f"out={out}")
    (result,) = gather_results([out]).results
    assert (result.kind, result.finished, result.model.name, result.seed) == ("run", True, "model", 3)
    assert (result.axis, [moment.words for moment in result.moments]) == ("steps", [0, 2, 16])
    assert {*result.references} == {"majority", "recency"} or result.references
    frame = load(out)
    assert sorted({*frame.moment}) == ["final", "step 0", "step 16", "step 2"]
    assert (out / "report.html").stat().st_size > 10_000
    about = read_summary(out / "probes/final-en-agreement")[1]
    assert about["checkpoint"] == "step16"


def test_more_revisions_later_and_offline_from_the_cache(hub, tmp_path: Path) -> None:
    hub()
    out = tmp_path / "curve"
    chosen = ("model.name=some/model-seed3", f"out={out}", "model.keep=all")
    evaluate(tmp_path, *chosen, "model.revisions=[step0,step16]")
    hub()
    evaluate(tmp_path, *chosen, "model.revisions=[step0,step2,step16]")
    assert weights_fetched(hub.asked) == 1
    assert [row["step"] for row in read(out / "metrics.csv")] == [0, 2, 16]
    hub(offline=True)
    said = evaluate(tmp_path, "model.name=some/model-seed3", "model.revisions=all", f"out={tmp_path / 'offline'}")
    assert not hub.asked
    assert read(tmp_path / "offline/metrics.csv")[1][MEAN] == read(out / "metrics.csv")[1][MEAN]
    assert "3 checkpoints, step0 to step16" in said
    # The hashes of the cache are those that the hub listed, so that nothing is asked again.
    assert "resumed    3 of 3 are already done" in evaluate(tmp_path, *chosen, "model.revisions=all")
    with pytest.raises(UserError, match=r"HF_HUB_OFFLINE is set and the hub's cache .* has no revision of it"):
        evaluate(tmp_path, "model.name=some/other", "model.revisions=all")


def test_processes_share_the_work(hub, tmp_path: Path) -> None:
    """One that finds a checkpoint taken goes on with the others, and leaves the end to the last."""
    hub()
    chosen = ("model.name=some/model-seed3", "model.revisions=[step0,step2,step16]", f"out={tmp_path / 'curve'}")
    with lock(tmp_path / "curve/points" / f".{point_file('step2')}.lock"):
        said = evaluate(tmp_path, *chosen)
    assert "waiting    step2: another process has it" in said
    assert not (tmp_path / "curve/DONE").exists()
    assert [row["step"] for row in read(tmp_path / "curve/metrics.csv")] == [0, 16]
    hub()
    evaluate(tmp_path, *chosen)
    assert [row["step"] for row in read(tmp_path / "curve/metrics.csv")] == [0, 2, 16]
    assert (tmp_path / "curve/DONE").exists()


def test_a_copy_at_the_end_of_a_curve(hub, tmp_path: Path) -> None:
    hub()
    chosen = ("model.name=some/model-seed3", f"out={tmp_path / 'curve'}")
    evaluate(tmp_path, *chosen, "model.revisions=[step2]")
    evaluate(tmp_path, *chosen, "model.revisions=[step4]")
    about = read_summary(tmp_path / "curve/probes/final-en-agreement")[1]
    assert (about["checkpoint"], about["same_as"]) == ("step4", "step2")
    assert json.loads((tmp_path / "curve/DONE").read_text(encoding="utf-8"))["steps seen"] == 4


def test_a_folder_of_another_curve_is_refused(hub, tmp_path: Path) -> None:
    hub()
    chosen = ("model.name=some/model-seed3", "model.revisions=[step0]", f"out={tmp_path / 'curve'}")
    evaluate(tmp_path, *chosen)
    with pytest.raises(UserError, match="the curve in this folder has options=.*'bos'.*now it is .*'eos'"):
        evaluate(tmp_path, *chosen, "model.start=eos")


def test_what_cannot_be_had_is_tried_again(hub, tmp_path: Path) -> None:
    hub()
    chosen = ("model.name=some/model-seed3", "model.revisions=[step0,step99]", f"out={tmp_path / 'curve'}")
    for _ in range(2):
        assert "broken     step99: it has no revision step99" in evaluate(tmp_path, *chosen)
    with pytest.raises(UserError, match=r"none of these checkpoints could be loaded \(step98: it has no revision"):
        evaluate(tmp_path, "model.name=some/model-seed3", "model.revisions=[step98,step99]", f"out={tmp_path / 'none'}")
    with pytest.raises(UserError, match=r"no checkpoint could be evaluated \(step8: cannot be loaded"):
        evaluate(tmp_path, "model.name=some/model-seed3", "model.revisions=[step8]", f"out={tmp_path / 'none'}")


def test_a_training_of_which_nothing_loads_is_given_up_early(tmp_path: Path, revisions) -> None:
    for number in range(5):
        shutil.copytree(revisions["step8"], tmp_path / f"mine/step{number}")
        (tmp_path / f"mine/step{number}/config.json").write_text(
            (revisions["step8"] / "config.json").read_text(encoding="utf-8") + "\n" * number, encoding="utf-8"
        )
    with pytest.raises(UserError, match=r"model.name=mine: no checkpoint could be evaluated \(step0: .*; step1: .*; …\)"):
        evaluate(tmp_path, f"model.name={tmp_path / 'mine'}", f"out={tmp_path / 'curve'}")
    assert len([*(tmp_path / "curve/points").glob("*.json")]) == 3


def test_folders_of_checkpoints(tmp_path: Path, revisions) -> None:
    training = tmp_path / "mine-s4"
    for number, name in enumerate(("step0", "step2", "step16")):
        shutil.copytree(revisions[name], training / f"checkpoint-{80 * number}")
    (training / "runs").mkdir()  # what a trainer leaves beside them
    evaluate(tmp_path, f"model.name={training}", f"out={tmp_path / 'one'}")
    listed = ",".join(str(training / f"checkpoint-{80 * number}") for number in (0, 2))
    evaluate(tmp_path, f"model.name=[{listed}]", f"out={tmp_path / 'two'}")
    one, two = (read(tmp_path / name / "metrics.csv") for name in ("one", "two"))
    assert [row["step"] for row in one] == [0, 80, 160]
    assert [row[MEAN] for row in two] == [one[0][MEAN], one[2][MEAN]]
    seeds = {(result.model.name, result.seed) for result in gather_results([tmp_path / "one", tmp_path / "two"]).results}
    assert seeds == {("mine", 4)}
    assert all(json.loads(file.read_text(encoding="utf-8"))["model"] for file in (tmp_path / "one/points").glob("*.json"))


def test_the_checkpoints_of_a_run_are_a_curve(tmp_path: Path) -> None:
    run = tmp_path / "runs/on"
    train(tmp_path, *WITHOUT_PROBES, "name=on", "callbacks.checkpoints.at_words=[100,300]")
    asked = (f"ckpt_path={run}", "probes.constructions=[prep]", "probes.limit=12")
    said = evaluate(tmp_path, asked=asked)
    assert "disagreement" in said  # the columns are shown as before
    (curve,) = (tmp_path / "results").glob("on-curve-de-agreement*")
    rows = read(curve / "metrics.csv")
    words = [row["progress/words_seen"] for row in rows]
    assert len(words) >= 3
    assert words == sorted({*words})
    (evaluated,) = (folder for folder in (tmp_path / "results").iterdir() if folder != curve)
    tables, about = read_summary(evaluated)
    by_words = {facts["words_seen"]: tables[name].mean.accuracy for name, facts in about["models"].items()}
    assert {row["progress/words_seen"]: row["probe/de/agreement/mean/accuracy"] for row in rows} == by_words
    (result,) = gather_results([curve]).results
    assert (result.kind, result.finished, result.seed, result.axis) == ("run", True, 1, "words")
    assert result.mean == tables["on/best"].mean.accuracy
    steps = [moment.step for moment in result.moments]
    assert steps[-1] < words[-1]  # real steps, at which seeds are compared
    evaluate(tmp_path, asked=asked)  # again, in the same place
    assert len(read(curve / "metrics.csv")) == len(rows)


def test_seeds_of_a_suite_are_seeds_in_the_report(tmp_path: Path) -> None:
    """Each as one model, as MultiBERTs publishes them; the same model again, and another revision, are no further seeds."""
    for seed in (0, 1, 2):
        save("bert", tmp_path / f"multi-seed_{seed}", seed=seed)
        evaluate(tmp_path, f"model.name={tmp_path}/multi-seed_{seed}", "probes.scoring=[pll]", f"out={tmp_path}/out/{seed}")
    found = gather_results([tmp_path / "out"])
    assert sorted((result.model.name, result.seed) for result in found.results) == [("multi", 0), ("multi", 1), ("multi", 2)]
    (condition,) = group_by_condition(found.results)
    assert (len(condition.results), condition.name) == (3, "multi, pll")
    shutil.copytree(tmp_path / "out/0", tmp_path / "out/again")
    assert len(gather_results([tmp_path / "out"]).results) == 3
    file = tmp_path / "out/again/summary.json"
    about = json.loads(file.read_text(encoding="utf-8"))
    for facts in about["models"].values():
        facts["options"]["revision"] = "step5"
    file.write_text(json.dumps(about), encoding="utf-8")
    assert len(group_by_condition(gather_results([tmp_path / "out"]).results)) == 2


def test_curves_of_a_suite_are_averaged(tmp_path: Path) -> None:
    for seed in (1, 2):
        for number in (0, 5):
            save("gpt2", tmp_path / f"suite-seed{seed}/step{number}", seed=10 * seed + number)
        evaluate(tmp_path, f"model.name={tmp_path}/suite-seed{seed}", f"out={tmp_path}/out/{seed}")
    (condition,) = group_by_condition(gather_results([tmp_path / "out"]).results)
    assert condition.name_with_seeds == "suite, causal(bos) (2 seeds)"
    curve = accuracy_curve(condition, "mean")
    rows = [read(tmp_path / f"out/{seed}/metrics.csv") for seed in (1, 2)]
    assert curve.seeds == [2, 2]
    assert curve.mean == [sum(row[i][MEAN] for row in rows) / 2 for i in (0, 1)]


CODE = """
from transformers import GPT2Config, GPT2LMHeadModel
class TheirConfig(GPT2Config):
    model_type = "theirs"
class TheirModel(GPT2LMHeadModel):
    config_class = TheirConfig
"""


def test_code_of_a_model_is_run_only_if_it_is_typed(tmp_path: Path, revisions, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shutil.copytree(revisions["step0"], tmp_path / "theirs")
    (folder / "theirs.py").write_text(CODE, encoding="utf-8")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    named = {"AutoConfig": "theirs.TheirConfig", "AutoModelForCausalLM": "theirs.TheirModel"}
    config |= {"model_type": "theirs", "architectures": ["TheirModel"], "auto_map": named}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(UserError, match="it brings its own code, which is run only if you type model.trust_remote_code=true"):
        evaluate(tmp_path, f"model.name={folder}")
    evaluate(tmp_path, f"model.name={folder}", "model.trust_remote_code=true", f"out={tmp_path / 'own'}")
    evaluate(tmp_path, f"model.name={revisions['step0']}", f"out={tmp_path / 'plain'}")
    (own, about), (plain, _) = (read_summary(tmp_path / name) for name in ("own", "plain"))
    assert own["theirs/causal(bos)"] == plain["step0/causal(bos)"]
    options = about["models"]["theirs/causal(bos)"]["options"]
    assert (options["trust_remote_code"], options["code"]) == (True, ["theirs.py"])
    config["auto_map"]["AutoModelForCausalLM"] = "someone/else--theirs.TheirModel"
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(UserError, match="it names code from someone/else, another repository, which is never run"):
        evaluate(tmp_path, f"model.name={folder}", "model.trust_remote_code=true")


def test_a_file_of_settings_cannot_trust(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The user's own conf/model/mine.yaml says it; it has to be typed all the same."""
    (tmp_path / "conf/model").mkdir(parents=True)
    text = (ROOT / "conf/model/hf.yaml").read_text(encoding="utf-8")
    own = text.replace("trust_remote_code: false", "trust_remote_code: true")
    (tmp_path / "conf/model/mine.yaml").write_text(own, encoding="utf-8")
    command = [sys.executable, str(ROOT / "evaluate.py"), "model=mine", "model.name=./none", "lang=en", f"paths.own={tmp_path}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "this is set in a file; code that comes with a model is run only if" in done.stderr
    typed = ["model=hf", "model.name=./none", "lang=en", "model.trust_remote_code=true"]
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        settings = read_composed_evaluation(compose("evaluate", typed))
    with pytest.raises(UserError, match="run only if you type it"):
        check_trust(settings, typed[:-1])
    check_trust(settings, typed)
    assert "running code that comes with ./none" in caplog.text

"""Published checkpoints as one learning curve: from a hub of five revisions, from folders, from a run of ours."""

import json
import shutil
from pathlib import Path

import pytest
from concord.commands import evaluate as evaluate_command
from concord.errors import UserError
from concord.probes.result_files import read_summary
from concord.report import load
from concord.report.gathering import gather_results
from concord.runs.logs import keep_log
from concord.runs.metrics_file import read
from concord.settings.overrides import read_composed_evaluation
from hub_server import serving_revisions
from hydra import compose, initialize_config_dir
from pretrained_models import save
from training_runs import ROOT

MEAN = "probe/en/agreement/mean/accuracy"
ASKED = ("lang=en", "probes.constructions=[simple_agrmt,prep]", "probes.limit=12", "model=hf")
FIVE = ("step0", "step2", "step4", "step8", "step16")


def evaluate(folder: Path, *overrides: str) -> str:
    """What `concord evaluate …` says, in this process."""
    places = [f"paths.results={folder}/results", f"paths.cache={folder}/cache"]
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        settings = read_composed_evaluation(compose("evaluate", [*places, *ASKED, *overrides]))
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
    monkeypatch.setenv("CONCORD_CACHE", str(tmp_path / "concord"))
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
    assert "left out   main: its name tells neither steps" in said
    assert "step2 and step4 are the same file" in said
    assert said.index("are the same file") < said.index("step0      mean")  # before anything is fetched
    assert "broken     step8: cannot be loaded" in said
    assert "step4      the same files as step2: not asked again" in said
    assert weights_fetched(hub.asked) == 4  # step0, step2, step8, step16
    rows = read(out / "metrics.csv")
    assert [row["step"] for row in rows] == [0, 2, 4, 16]
    assert rows[1][MEAN] == rows[2][MEAN]
    assert not list((tmp_path / "concord" / "checkpoints").iterdir())  # keep=none
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
    assert "resumed    5 of 5 are there already" in again
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
    with pytest.raises(UserError, match=r"HF_HUB_OFFLINE is set and the hub's cache .* has no revision of it"):
        evaluate(tmp_path, "model.name=some/other", "model.revisions=all")


def test_a_folder_of_another_curve_is_refused(hub, tmp_path: Path) -> None:
    hub()
    chosen = ("model.name=some/model-seed3", "model.revisions=[step0]", f"out={tmp_path / 'curve'}")
    evaluate(tmp_path, *chosen)
    with pytest.raises(UserError, match="the curve in this folder is of options=.*'bos'.*now it is .*'eos'"):
        evaluate(tmp_path, *chosen, "model.start=eos")


def test_what_cannot_be_had_is_tried_again(hub, tmp_path: Path) -> None:
    hub()
    chosen = ("model.name=some/model-seed3", "model.revisions=[step0,step99]", f"out={tmp_path / 'curve'}")
    for _ in range(2):
        assert "broken     step99: it has no revision step99" in evaluate(tmp_path, *chosen)
    with pytest.raises(UserError, match=r"none of these checkpoints is to be had \(step98: it has no revision"):
        evaluate(tmp_path, "model.name=some/model-seed3", "model.revisions=[step98,step99]", f"out={tmp_path / 'none'}")
    with pytest.raises(UserError, match=r"none of its 1 checkpoints could be asked \(step8: cannot be loaded"):
        evaluate(tmp_path, "model.name=some/model-seed3", "model.revisions=[step8]", f"out={tmp_path / 'none'}")


def test_folders_of_checkpoints(tmp_path: Path, revisions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCORD_CACHE", str(tmp_path / "concord"))
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

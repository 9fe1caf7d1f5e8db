"""A search: which trials it makes, when it gives one up, and that it can be taken up again."""

import csv
import json
from pathlib import Path

import optuna
import pytest
from concord.errors import UserError
from concord.runs.run_folder import RunFolder
from concord.runs.sweeps.job import Job
from concord.runs.sweeps.search import Objectives, Pruning, Search
from concord.runs.sweeps.space import distribution
from concord.runs.sweeps.study import Wishes, alone, must_be_measured, opened, report, study_name
from hydra.core.override_parser.overrides_parser import OverridesParser
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState
from training_runs import settings

BOTH = Objectives(["valid/perplexity", "probe/acc"], ["minimize", "maximize"])


def wishes(tmp_path: Path, **more) -> Wishes:
    known = {
        "study_name": "s",
        "storage": f"sqlite:///{tmp_path}/db/optuna.db",
        "n_trials": 8,
        "n_jobs": 2,
        "sampler": "tpe",
        "seed": 1,
    }
    known |= {"objectives": BOTH.names, "directions": BOTH.directions, "pruning": None}
    return Wishes(**known | more)


def searching(tmp_path: Path, space=None, **more) -> Search:
    wish = wishes(tmp_path, **more)

    def make(trial):
        folder = RunFolder(tmp_path / f"runs/trial-{trial.number}")
        return Job(f"trial {trial.number}", folder, tmp_path / f"trial-{trial.number}.yaml", (), epochs=2, processes=1)

    return Search(opened("s", wish), wish.plan(space or {"model.dropout": FloatDistribution(0, 1)}), make)


def trained(job: Job, *epochs: tuple[float, float]) -> None:
    """Metrics of a run, and its end; the last epoch is the best."""
    job.folder.enter("", {})
    rows = "".join(f"{i},{perplexity},{accuracy}\n" for i, (perplexity, accuracy) in enumerate(epochs))
    job.folder.metrics.write_text("step,valid/perplexity,probe/acc\n" + rows)
    job.folder.finish({"best epoch": len(epochs), "epochs": len(epochs)})


def numbers(search: Search) -> list[int]:
    return [trial.number for trial in search.trials()]


def test_killed_after_three_of_eight_it_ends_with_eight_and_none_repeated(tmp_path):
    first = searching(tmp_path)
    for value in range(3):
        (job,) = first.take(1)
        trained(job, (10.0 + value, 0.5))
        first.ended(job, "done")
    lost = first.take(2)  # running when the search is killed
    assert len(lost) == 2
    second = searching(tmp_path)
    jobs = second.take(2)
    assert [job.label for job in jobs] == [job.label for job in lost]
    while jobs:
        for job in jobs:
            trained(job, (20.0, 0.5))
            second.ended(job, "done")
        jobs = second.take(2)
    assert second.over()
    trials = second.trials()
    assert [trial.state for trial in trials] == [TrialState.COMPLETE] * 8
    assert len({trial.params["model.dropout"] for trial in trials}) == 8
    assert searching(tmp_path).over()
    assert not searching(tmp_path, n_trials=9).over()


def test_no_more_at_a_time_than_asked_for(tmp_path):
    search = searching(tmp_path)
    first = search.take(100)
    assert len(first) == 2
    assert search.take(100) == []
    search.ended(first[0], "failed")
    assert len(search.take(100)) == 1
    assert len(search.trials()) == 3  # a failed trial is a trial


def test_a_trial_that_was_stopped_with_the_search_stays_open(tmp_path):
    search = searching(tmp_path)
    (job,) = search.take(1)
    search.ended(job, "stopped")
    assert [job.label for job in searching(tmp_path).take(1)] == [job.label]


def test_a_trial_that_another_process_still_trains_is_waited_for(tmp_path):
    (job,) = searching(tmp_path).take(1)
    with job.folder.locked():
        search = searching(tmp_path)
        assert search.take(2) == []
        assert not search.over()
    assert [job.label for job in search.take(1)] == ["trial 0"]


def test_an_exhausted_space_ends_the_search(tmp_path, capsys):
    search = searching(tmp_path, {"model.tied": CategoricalDistribution(["true", "false"])}, n_jobs=1, sampler="random")
    for _ in range(2):
        (job,) = search.take(1)
        trained(job, (10.0, 0.5))
        search.ended(job, "done")
    assert search.take(1) == []
    assert search.over()
    assert len(search.trials()) == 2
    assert "times in a row, only settings already tried" in capsys.readouterr().out


def test_both_objectives_are_those_of_the_best_model(tmp_path):
    (job,) = searching(tmp_path).take(1)
    trained(job, (10.0, 0.5), (9.0, 0.6), (11.0, 0.9))
    job.folder.finish({"best epoch": 2, "best valid/perplexity": 9.0})
    assert BOTH.values(job.folder) == [9.0, 0.6]


def test_a_metric_that_was_not_measured_is_told(tmp_path):
    (job,) = searching(tmp_path).take(1)
    trained(job, (10.0, 0.5))
    with pytest.raises(
        UserError, match="it has not measured valid/bleu; choose hydra.sweeper.objectives from probe/acc, valid/perp"
    ):
        Objectives(["valid/bleu"], ["maximize"]).values(job.folder)


@pytest.mark.parametrize(
    ("perplexities", "accuracies", "gives_up"),
    [
        ([40, 30], [0.5, 0.5], True),  # worse in both
        ([40, 30], [0.5, 0.7], False),  # better agreement
        ([40, 10], [0.5, 0.5], False),  # better perplexity
        ([40], [0.5], False),  # too early to say
        ([40, 30], [], True),  # agreement was not measured at this epoch
    ],
)
def test_only_a_run_that_is_worse_in_every_objective_is_hopeless(perplexities, accuracies, gives_up):
    others = [{"valid/perplexity": [30, value], "probe/acc": [0.5, 0.6]} for value in (18, 20, 22)]
    curves = {"valid/perplexity": perplexities, "probe/acc": accuracies}
    why = Pruning(startup_trials=3, warmup_epochs=1).hopeless(curves, others, BOTH)
    assert bool(why) is gives_up
    if gives_up:
        assert why.startswith("hopeless after epoch 2: valid/perplexity 30, median 20")
    assert Pruning(startup_trials=4, warmup_epochs=1).hopeless(curves, others, BOTH) == ""


def test_a_hopeless_trial_is_pruned(tmp_path):
    search = searching(tmp_path, pruning={"startup_trials": 2, "warmup_epochs": 0}, n_jobs=1)
    for value in (10.0, 12.0):
        (job,) = search.take(1)
        trained(job, (value, 0.8))
        search.ended(job, "done")
    (job,) = search.take(1)
    assert search.hopeless(job) == ""
    trained(job, (50.0, 0.5))
    assert "hopeless after epoch 1" in search.hopeless(job)
    search.ended(job, "pruned")
    assert search.trials()[2].state == TrialState.PRUNED
    (job,) = search.take(1)
    trained(job, (11.0, 0.5))
    assert search.hopeless(job) == ""


def test_the_front_and_all_trials_are_reported(tmp_path, capsys):
    search = searching(tmp_path, n_jobs=1, n_trials=4)
    for values in ((10.0, 0.5), (12.0, 0.7), (11.0, 0.4)):
        (job,) = search.take(1)
        trained(job, values)
        search.ended(job, "done")
    (job,) = search.take(1)
    search.ended(job, "failed")
    report(search, tmp_path)
    with (tmp_path / "trials.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["state"], row["pareto"]) for row in rows] == [
        ("done", "True"),
        ("done", "True"),
        ("done", "False"),
        ("failed", "False"),
    ]
    said = capsys.readouterr().out
    assert "Pareto front" in said
    assert [line.split()[0] for line in said.splitlines() if "trial-" in line] == ["0", "1"]


def test_a_study_has_one_searcher_and_one_kind_of_objectives(tmp_path):
    opened("s", wishes(tmp_path))
    with pytest.raises(
        UserError, match="study_name=s: this study has the objectives valid/perplexity, probe/acc; use another name for others"
    ):
        opened("s", wishes(tmp_path, objectives=["valid/loss"], directions=["minimize"]))
    with (
        alone(tmp_path),
        pytest.raises(UserError, match="another process is running this search; wait for it, or raise its n_jobs"),
        alone(tmp_path),
    ):
        pass


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"sampler": "gp"}, "sampler=gp: no such sampler; available: tpe, nsga2, random"),
        ({"directions": ["minimize"]}, r"directions=\['minimize'\]: must be minimize or maximize, once for each of valid/perp"),
        ({"n_trials": 0}, "n_trials=0: must be a whole number of at least 1"),
    ],
)
def test_wrong_wishes_are_told(tmp_path, wish, message):
    with pytest.raises(UserError, match=message):
        wishes(tmp_path, **wish).check()


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        (["lang=multi", "lang.languages=[de,fr]"], "begin with probe/de/agreement or probe/fr/agreement"),
        (["probes=none"], "it is not probed"),
        (["probes=cases"], "begin with probe/de/cases"),
    ],
)
def test_an_objective_that_no_trial_measures_is_told_before_the_first(chosen, told):
    name = "probe/multi/agreement/mean/accuracy_dev" if "lang=multi" in chosen else "probe/de/agreement/mean/accuracy_dev"
    with pytest.raises(UserError, match=f"{name} is not measured in this training: .*{told}"):
        must_be_measured(["valid/perplexity", name], settings(*chosen))
    must_be_measured(["valid/perplexity", "probe/de/agreement/prep/sp"], settings())


def test_other_settings_are_another_study_and_more_trials_the_same(tmp_path):
    def named(seed: int = 1, space=None, **more) -> str:
        base = settings(f"seed={seed}")
        return study_name(base, space or {"model.dropout": FloatDistribution(0, 1)}, wishes(tmp_path, **more))

    assert named() == named(n_trials=99, n_jobs=7)
    assert (
        len({named(), named(seed=2), named(space={"model.dropout": FloatDistribution(0, 0.5)}), named(objectives=["a", "b"])})
        == 4
    )


def test_the_space_is_written_as_hydra_writes_sweeps():
    def parsed(text: str):
        return distribution(OverridesParser.create().parse_override(text))

    assert parsed("x=interval(0,0.5)") == FloatDistribution(0, 0.5)
    assert parsed("x=tag(log,interval(0.001,1))") == FloatDistribution(0.001, 1, log=True)
    assert parsed("x=int(interval(1,4))") == IntDistribution(1, 4)
    assert parsed("x=range(1,4)") == IntDistribution(1, 3)
    assert parsed("x=range(0,10,5)") == IntDistribution(0, 5, step=5)
    assert parsed("x=16,32,64") == CategoricalDistribution(["16", "32", "64"])
    assert parsed("x=choice(lstm,transformer)") == CategoricalDistribution(["lstm", "transformer"])
    with pytest.raises(UserError, match=r"x=tag\(log,interval\(0,1\)\)"):
        parsed("x=tag(log,interval(0,1))")


def test_a_restart_does_not_suggest_the_first_settings_again(tmp_path):
    """One seed for the whole study would."""
    suggested = []
    for _ in range(3):
        search = searching(tmp_path, sampler="random", n_jobs=1)
        search.waiting = []
        search.take(1)
        suggested.append(search.trials()[-1].params["model.dropout"])
    assert len(set(suggested)) == 3
    assert optuna.load_study(study_name="s", storage=wishes(tmp_path).storage).user_attrs["objectives"] == list(BOTH.names)
    assert json.dumps(numbers(search)) == "[0, 1, 2]"

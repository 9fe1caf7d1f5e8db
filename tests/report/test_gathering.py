"""What is found in folders, what is left out, and what is never averaged."""

import shutil
from pathlib import Path

import pytest
from concord.errors import UserError
from concord.report.conditions import explain_separations, group_by_condition
from concord.report.gathering import gather_results
from concord.report.learning_curves import accuracy_curve, align_steps
from concord.report.report_folder import make_report, write_page
from concord.settings.run import read_run_settings
from synthetic_runs import asked, settings, write_evaluation, write_run


def test_runs_differing_in_their_seed_alone_are_one_condition(study: Path) -> None:
    conditions = group_by_condition(gather_results([study]).results)
    assert [(condition.language, condition.name, len(condition.results)) for condition in conditions] == [
        ("de", "lstm", 3),
        ("de", "transformer", 2),
        ("he", "lstm", 3),
    ]
    assert [result.seed for result in conditions[0].results] == [1, 2, 3]
    first = conditions[0].first
    assert (first.finished, first.label, len(first.moments), first.words) == (True, "default", 7, 600_001)
    assert first.perplexity < 30
    assert first.scores["prep"].n == 24
    assert explain_separations(conditions) == []


def test_a_report_is_made_of_what_can_be_read_and_says_what_it_left_out(study: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    shutil.copytree(study / "de-lstm-s1", folder / "good")
    (folder / "empty").mkdir()
    (folder / "foreign").mkdir()
    (folder / "foreign/notes.txt").write_text("not a run", encoding="utf-8")
    (folder / "half").mkdir()
    (folder / "half/config.yaml").write_text("lang: {code: de}\nmodel: {na", encoding="utf-8")
    (folder / "other").mkdir()
    (folder / "other/config.yaml").write_text("port: 8080\n", encoding="utf-8")
    shutil.copytree(study / "de-lstm-s2", folder / "broken")
    (folder / "broken/probes/final-de-agreement/items.parquet").write_bytes(b"PAR1 and no more")
    (folder / "broken/probes/de-agreement-step00000050.parquet").write_bytes(b"PAR1 half of it")
    with (folder / "broken/metrics.csv").open("a", encoding="utf-8") as stream:
        stream.write("9999,0.3,not a num")
    (folder / "started").mkdir()
    shutil.copy(study / "de-lstm-s1/config.yaml", folder / "started")
    made = make_report([folder])
    why = {Path(each.path).relative_to(folder).as_posix(): each.why for each in made.findings.left_out}
    assert why["empty"] == "empty"
    assert why["foreign"].startswith("neither a run")
    assert why["half"].startswith("cannot be read: ParserError")
    assert why["other"] == "cannot be read: ValueError: config.yaml does not describe a run"
    assert why["started"].startswith("nothing has been probed yet")
    assert why["broken/probes/final-de-agreement/items.parquet"].startswith("no items are shown")
    assert why["broken/probes/de-agreement-step00000050.parquet"].startswith("no items are shown")
    assert why["broken/metrics.csv"] == "1 of its lines are unreadable"
    assert sorted(result.name for result in made.findings.results) == ["broken", "good"]
    text = write_page(made, tmp_path / "report.html").read_text(encoding="utf-8")
    for name in why:
        assert name in text
    assert any("half" in note for note in made.notes())


def test_a_run_that_goes_on_is_known_by_its_last_probe(tmp_path: Path) -> None:
    write_run(tmp_path / "going", asked("de", 24), epochs=3, finished=False, chosen=settings("lang=de", "probes.limit=24"))
    (result,) = gather_results([tmp_path]).results
    assert (result.finished, result.items, result.scores["prep"].n) == (False, None, 20)
    (condition,) = group_by_condition([result])
    assert condition.name == "lstm · unfinished"
    text = write_page(make_report([tmp_path]), tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Not finished: 1" in text


@pytest.mark.parametrize(
    ("other", "shown", "why"),
    [
        ({"whole": ("de", 24, "default", (), 7)}, "items B", "because they differ in the items of the set"),
        (
            {"whole": ("de", 24, "default", (("ties", "wrong"),))},
            "default+ties=wrong",
            "the scoring contract (default / default+ties=wrong)",
        ),
        ({"vocabulary": "v1"}, "vocabulary B", "because they differ in the vocabulary"),
    ],
)
def test_other_items_contracts_or_vocabularies_are_never_averaged(tmp_path: Path, other: dict, shown: str, why: str) -> None:
    for seed in (1, 2):
        write_run(tmp_path / f"a{seed}", asked("de", 24), seed, epochs=2)
    whole = asked(*other.pop("whole", ("de", 24)))
    for seed in (3, 4):
        write_run(tmp_path / f"b{seed}", whole, seed, epochs=2, **other)
    made = make_report([tmp_path])
    assert [len(condition.results) for condition in made.conditions] == [2, 2]
    assert {result.name[0] for result in made.conditions[0].results} == {"a"}
    assert shown in made.conditions[1].name
    (note,) = explain_separations(made.conditions)
    shown = " and ".join(f"{condition.name} (2 runs)" for condition in made.conditions)  # what the letter stands for
    assert f"models trained with the same settings are shown separately, {shown}, because" in note
    assert why in note
    assert why.split(" (", maxsplit=1)[0] in made.html()
    heads = [head.name for head in made.tables[0].heads if not head.published]
    assert len(set(heads)) == 2


def test_curves_of_other_samples_are_never_averaged(tmp_path: Path) -> None:
    for seed, sample in ((1, 20), (2, 20), (3, 10)):
        write_run(tmp_path / f"r{seed}", asked("de", 24), seed, epochs=2, sample=sample)
    conditions = group_by_condition(gather_results([tmp_path]).results)
    assert [len(condition.results) for condition in conditions] == [2, 1]
    assert [condition.name.split(" ")[2] for condition in conditions] == ["sample", "sample"]
    assert "the items probed during training" in explain_separations(conditions)[0]


def test_two_conditions_of_a_language_never_share_a_name(tmp_path: Path) -> None:
    same = ("model.embedding=50", "model.dropout=0.1", "data.batch_size=8")
    for seed, more in enumerate(((), same, (*same, "trainer.max_epochs=3"))):
        write_run(tmp_path / f"r{seed}", asked("de", 24), 1, epochs=2, chosen=settings("lang=de", *more))
    names = [condition.name for condition in group_by_condition(gather_results([tmp_path]).results)]
    assert len(set(names)) == len(names) == 3


def test_the_name_that_a_sweep_writes_down_is_not_one_that_was_given(tmp_path: Path) -> None:
    """Jobs of a sweep are frozen with the name that a run has without `name=`."""
    usual = read_run_settings(settings("lang=de", "seed=1")).usual_name()
    for name in (usual, "mine"):
        write_run(tmp_path / name, asked("de", 24), 1, epochs=2, chosen=settings("lang=de", "seed=1", f"name={name}"))
        (condition,) = group_by_condition(gather_results([tmp_path / name]).results)
        assert condition.name == ("mine" if name == "mine" else "lstm")


def test_what_a_sweep_keeps_for_itself_is_not_called_left_out(study: Path, tmp_path: Path) -> None:
    shutil.copytree(study / "de-lstm-s1", tmp_path / "de-lstm-s1")
    (tmp_path / "sweeps/today").mkdir(parents=True)
    (tmp_path / "sweeps/today/multirun.yaml").write_text("{}", encoding="utf-8")
    assert gather_results([tmp_path]).left_out == []


def test_a_point_of_fewer_seeds_says_so(study: Path, tmp_path: Path) -> None:
    for seed, epochs in ((1, 4), (2, 2)):
        write_run(tmp_path / f"r{seed}", asked("de", 24), seed, epochs=epochs, finished=False)
    (condition,) = group_by_condition(gather_results([tmp_path]).results)
    assert accuracy_curve(condition, "prep").seeds == [2, 2, 2, 1, 1]


@pytest.mark.parametrize("override", ["data.workers=2", "callbacks.checkpoints.every_n_steps=7"])
def test_settings_that_change_no_result_make_no_condition(tmp_path: Path, override: str) -> None:
    write_run(tmp_path / "a", asked("de", 24), 1, epochs=2)
    write_run(tmp_path / "b", asked("de", 24), 2, epochs=2, chosen=settings("lang=de", override))
    (condition,) = group_by_condition(gather_results([tmp_path]).results)
    assert [result.seed for result in condition.results] == [1, 2]
    assert condition.name == "lstm"


def test_conditions_are_called_what_a_person_called_them(tmp_path: Path) -> None:
    for seed in (1, 2):
        named = settings("lang=de", f"name=deep-s{seed}", "model.network.layers=3")
        write_run(tmp_path / f"deep-s{seed}", asked("de", 24), seed, epochs=2, chosen=named)
        tagged = settings("lang=de", "tags=[wide, pilot]", "model.network.hidden=900")
        write_run(tmp_path / f"wide-{seed}", asked("de", 24), seed, epochs=2, chosen=tagged)
    write_run(tmp_path / "quick", asked("de", 24), 1, epochs=2, chosen=settings("lang=de", "model.optimizer.lr=0.02"))
    names = [condition.name for condition in group_by_condition(gather_results([tmp_path]).results)]
    assert names[:1] == ["deep"]
    assert names[2] == "wide, pilot"
    assert "learning rate 0.02" in names[1]
    assert "hidden size" in names[1]


def test_machines_and_loggers_make_no_condition_but_settings_do(tmp_path: Path) -> None:
    whole = asked("de", 24)
    write_run(tmp_path / "a", whole, 1, epochs=2)
    write_run(tmp_path / "b", whole, 2, epochs=2, chosen=settings("lang=de", "logger=none", "trainer.threads=1", "paths.runs=x"))
    write_run(tmp_path / "c", whole, 3, epochs=2, chosen=settings("lang=de", "model.embedding=50", "data.withhold=[obj_rel]"))
    conditions = group_by_condition(gather_results([tmp_path]).results)
    assert [len(condition.results) for condition in conditions] == [2, 1]
    assert conditions[0].name.endswith(", nothing withheld")
    assert conditions[1].name == "lstm, embedding 50, without obj_rel"


def test_an_evaluation_knows_the_run_it_comes_from(study: Path, capitalised: Path) -> None:
    found = gather_results([study, capitalised])
    conditions = group_by_condition(found.results)
    assert [(condition.name, len(condition.results)) for condition in conditions if condition.language == "de"] == [
        ("lstm", 3),
        ("transformer", 2),
        ("lstm · default+capitalize", 2),
    ]
    assert [result.seed for result in conditions[2].results] == [1, 2]


def test_what_an_evaluation_says_again_is_left_out(study: Path, tmp_path: Path) -> None:
    write_evaluation(tmp_path / "again", asked("de", 24), ["de-lstm-s1/best"])
    write_evaluation(tmp_path / "models", asked("de", 24), ["big/model", "small/model"])
    found = gather_results([study / "de-lstm-s1", tmp_path])
    assert [(Path(each.path).name, each.why) for each in found.left_out] == [
        ("again", "the same model on the same items as in de-lstm-s1")
    ]
    assert [result.name for result in found.results] == ["de-lstm-s1", "big/model", "small/model"]
    assert [result.items is not None for result in found.results] == [True] * 3


def test_a_copy_of_a_run_is_no_second_seed(study: Path, tmp_path: Path) -> None:
    shutil.copytree(study / "de-lstm-s1", tmp_path / "copy")
    found = gather_results([study / "de-lstm-s1", tmp_path])
    assert len(found.results) == 1
    assert [each.why for each in found.left_out] == [f"the same settings and seed as {study}/de-lstm-s1"]


def test_debug_runs_are_left_out_beside_others_and_shown_alone(study: Path, tmp_path: Path) -> None:
    write_run(tmp_path / "try", asked("de", 24), 1, epochs=2, chosen=dict(settings("lang=de")) | {"debugging": "fast"})
    assert [result.name for result in gather_results([tmp_path]).results] == ["try"]
    write_evaluation(tmp_path / "evaluated", asked("de", 24), ["try/last"])
    assert len(gather_results([tmp_path]).results) == 2
    shutil.rmtree(tmp_path / "evaluated")
    found = gather_results([tmp_path, study / "de-lstm-s1"])
    assert [result.name for result in found.results] == ["de-lstm-s1"]
    assert [each.why for each in found.left_out] == ["a debug run (debug=fast)"]


def test_runs_that_began_elsewhere_are_another_condition(tmp_path: Path) -> None:
    for seed, began in ((1, "auto"), (2, None), (3, "runs/x/checkpoints/best.ckpt")):
        write_run(tmp_path / f"r{seed}", asked("de", 24), seed, epochs=2, chosen=dict(settings("lang=de")) | {"ckpt_path": began})
    assert [len(condition.results) for condition in group_by_condition(gather_results([tmp_path]).results)] == [2, 1]


def test_many_foreign_folders_are_counted_and_one_is_named(study: Path, tmp_path: Path) -> None:
    shutil.copytree(study / "de-lstm-s1", tmp_path / "run")
    for number in range(12):
        (tmp_path / f"download-{number:02d}").mkdir()
        (tmp_path / f"download-{number:02d}/data.txt").touch()
    (tmp_path / "nothing").mkdir()
    left_out = {each.path: each.why for each in gather_results([tmp_path]).left_out}
    assert left_out == {
        str(tmp_path): "12 folders inside: neither a run (config.yaml) nor an evaluation (summary.json) "
        "(download-00, download-01, download-02 …)",
        str(tmp_path / "nothing"): "empty",
    }


def test_folders_may_be_given_by_a_pattern_and_count_once(study: Path) -> None:
    assert len(gather_results([f"{study}/de-lstm-*", study / "de-lstm-s1"]).results) == 3
    with pytest.raises(UserError, match="no such folder; give folders of runs"):
        gather_results([study / "nothing"])
    with pytest.raises(UserError, match=": no such folder"):
        gather_results([f"{study}/x-*"])


def test_nothing_to_report_on_is_an_error_that_says_why(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(UserError, match=r"nothing to report on: .*a: empty"):
        make_report([tmp_path])


@pytest.mark.parametrize(
    ("runs", "places"),
    [
        ([[0, 158, 395], [0, 159, 398]], [[0, 158, 395], [0, 158, 395]]),  # batches by tokens: epochs differ by a few steps
        ([[0, 10, 20], [0, 10]], [[0, 10, 20], [0, 10]]),  # one seed is not there yet
        ([[0, 1, 2], [0, 1, 2]], [[0, 1, 2], [0, 1, 2]]),  # probes of one run are never one point
        ([[0, 100], [1, 150]], [[0, 100], [1, 150]]),  # the untrained model stands alone
        # One seed lacks a probe: those after it still belong together.
        ([[990, 1010, 1020], [990, 1000, 1010, 1020]], [[990, 1010, 1020], [990, 1000, 1010, 1020]]),
        ([[500, 1003], [500, 1000], [502, 1001]], [[500, 1000], [500, 1000], [500, 1000]]),
    ],
)
def test_probes_of_seeds_at_the_same_point_of_training_are_averaged(runs, places):
    assert [[found[step] for step in steps] for found, steps in zip(align_steps(runs), runs, strict=True)] == places

"""Names of published checkpoints: what is read from them, and what is told of those that tell nothing."""

from pathlib import Path

import pytest
from concord.errors import UserError
from concord.settings.checkpoint_names import NamingRule, naming_rule, place_checkpoints, suite_and_seed

PYTHIA = [f"step{n}" for n in (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, *range(1000, 143001, 1000))]


@pytest.mark.parametrize(
    ("name", "seen", "part"),
    [
        ("step1000", {"steps": 1000}, ""),
        ("stage1-step150-tokens1B", {"steps": 150, "tokens": 10**9}, "stage1"),
        ("stage2-ingredient3-step4000-tokens17B", {"steps": 4000, "tokens": 17 * 10**9}, "stage2-ingredient3"),
        ("checkpoint-80", {"steps": 80}, ""),
        ("chck_7M", {"words": 7_000_000}, ""),
        ("chck_500k", {"words": 500_000}, ""),
        ("10000", {"steps": 10000}, ""),
        ("google/multiberts-seed_0-step_20k", {"steps": 20_000}, "multiberts-seed_0"),
        ("out/mine/checkpoint-80/", {"steps": 80}, ""),
        ("global_step1234", {"steps": 1234}, ""),
        ("step1.5M", {"steps": 1_500_000}, ""),
    ],
)
def test_usual_names(name, seen, part):
    place = NamingRule().read(name)
    assert place is not None
    assert (place.seen, place.part, place.name) == (seen, part, name)


@pytest.mark.parametrize("name", ["main", "v1.0", "pythia-160m", "stepwise", "onestep5", "step", "epoch3", "step12ab", "٣"])
def test_names_that_tell_nothing(name):
    assert NamingRule().read(name) is None


def test_all_leaves_out_what_it_cannot_place_and_says_why():
    found = place_checkpoints(["main", *reversed(PYTHIA)], "all", NamingRule())
    assert [place.name for place in found.points] == PYTHIA
    assert found.axis == "steps"
    assert found.left_out.keys() == {"main"}
    with pytest.raises(UserError, match=r"main: these names give neither steps .*model.pattern=run_\{step\}"):
        place_checkpoints([], ("step0", "main"), NamingRule())


def test_log_takes_doublings():
    found = place_checkpoints(["main", *PYTHIA], "log", NamingRule())
    steps = [place.step for place in found.points]
    thousands = [1000, 2000, 4000, 8000, 16000, 33000, 66000, 131000, 143000]
    assert steps == [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, *thousands]
    assert [place.step for place in place_checkpoints(["step0", "step7"], "log", NamingRule()).points] == [0, 7]
    assert [place.step for place in place_checkpoints(["step0"], "log", NamingRule()).points] == [0]


def test_stages_are_not_one_curve():
    one = [f"stage1-step{n}-tokens{n // 100}B" for n in (100, 200, 300)]
    other = ["stage2-ingredient1-step100-tokens1B"]
    found = place_checkpoints([*one, *other], "all", NamingRule())
    assert ([place.name for place in found.points], found.axis) == (one, "tokens")
    assert "of stage2-ingredient1, not of stage1" in found.left_out[other[0]]
    with pytest.raises(UserError, match="stage2-ingredient1-step100-tokens1B is of stage2-ingredient1, not of stage1"):
        place_checkpoints([], (*one, *other), NamingRule())


def test_tokens_that_are_rounded_give_way_to_steps():
    """step1 and step2 of OLMo are both tokens0B."""
    found = place_checkpoints([f"stage1-step{n}-tokens{n // 100}B" for n in (0, 1, 2, 300)], "all", NamingRule())
    assert (found.axis, [place.step for place in found.points]) == ("steps", [0, 1, 2, 300])


def test_two_names_of_one_place():
    found = place_checkpoints(["checkpoint-5", "step5", "step6"], "all", NamingRule())
    assert [place.name for place in found.points] == ["checkpoint-5", "step6"]
    assert found.left_out == {"step5": "the same steps as checkpoint-5"}


def test_words_and_steps_do_not_mix():
    found = place_checkpoints(["chck_1M", "chck_2M", "checkpoint-80"], "all", NamingRule())
    assert (found.axis, found.left_out.keys()) == ("words", {"checkpoint-80"})


def test_a_pattern():
    rule = naming_rule("run{step}_{tokens}-*", None)
    place = rule.read("run20k_1.5B-final")
    assert place is not None
    assert place.seen == {"steps": 20_000, "tokens": 1_500_000_000}
    assert rule.read("step1000") is None
    with pytest.raises(UserError, match=r"model.pattern=run: it has no placeholder; write \{step\}"):
        naming_rule("run", None)
    with pytest.raises(UserError, match=r"step0: model.pattern=run\{step\}_\{tokens\}-\* fits none"):
        place_checkpoints(["step0"], "all", rule)


def test_a_table(tmp_path: Path):
    file = tmp_path / "places.csv"
    file.write_text("name,step,words\nmain,143000,3B\nsmall,10,\n", encoding="utf-8")
    rule = naming_rule(None, str(file))
    assert rule.table["main"].seen == {"steps": 143_000, "words": 3 * 10**9}
    assert [place.step for place in place_checkpoints(["main", "small", "step5"], "all", rule).points] == [5, 10, 143_000]
    file.write_text("name,step\nmain,many\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"places.csv:2: it must be a CSV file with the columns name and step"):
        naming_rule(None, str(file))
    with pytest.raises(UserError, match="cannot be read"):
        naming_rule(None, str(tmp_path / "none.csv"))


@pytest.mark.parametrize(
    ("name", "suite", "seed"),
    [
        ("pythia-160m-seed3", "pythia-160m", 3),
        ("pythia-160m-data-seed1", "pythia-160m-data", 1),
        ("multiberts-seed_24", "multiberts", 24),
        ("multiberts-seed_0-step_20k", "multiberts", 0),
        ("pythia-160m", "pythia-160m", None),
        ("linseed7", "linseed7", None),
    ],
)
def test_suites_and_seeds(name, suite, seed):
    assert suite_and_seed(name) == (suite, seed)

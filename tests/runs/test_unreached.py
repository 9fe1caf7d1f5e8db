"""Moments that a run will not come to, the verdict of debug=overfit, and what a report cannot compare are told."""

import pytest
from concord.errors import UserError
from concord.probes.callback import ProbeSchedule
from concord.runs.fit import overfitting
from concord.runs.progress_report import unreached
from concord.settings.overrides import read_composed_evaluation
from hydra import compose, initialize_config_dir
from training_runs import ROOT, settings


def test_moments_beyond_the_end_are_told():
    schedule = ProbeSchedule(epochs=[0.5, 1, 2.5], steps=[3, 99], words=[10, 2_000_000])
    assert list(unreached([5, 1000], schedule, words=1000, steps=40, epochs=2)) == [
        "probes.schedule.words: 2,000,000 will not be reached; this run ends after 1,000 words",
        "probes.schedule.steps: 99 will not be reached; this run ends after 40 steps",
        "probes.schedule.epochs: 2.5 will not be reached; this run ends after 2 epochs",
    ]
    assert list(unreached([1001], None, 1000, 40, 2)) == [
        "callbacks.checkpoints.at_words: 1,001 will not be reached; this run ends after 1,000 words"
    ]


def test_overfitting_has_a_verdict():
    assert overfitting(0.3, 0.5, 300).startswith("overfitted: after 300 epochs the training loss is 0.300, below 0.5")
    assert overfitting(0.7, 0.5, 300).startswith(
        "NOT overfitted: after 300 epochs the training loss is still 0.700, not below 0.5"
    )
    assert overfitting(float("nan"), 0.5, 300).startswith("NOT overfitted")
    assert settings("debug=overfit").overfit == 0.5


def test_a_way_of_scoring_that_would_be_ignored_is_refused():
    with pytest.raises(
        UserError,
        match=r"probes.scoring=\[pll\]: only for pretrained models \(model=hf\)",
    ):
        settings("probes.scoring=[pll]")
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        with pytest.raises(
            UserError,
            match=r"only for pretrained models \(model=hf\)",
        ):
            read_composed_evaluation(compose("evaluate", ["ckpt_path=x.ckpt", "probes.scoring=[pll]"]))
        asked = ["model=hf", "model.name=x", "lang=de", "probes.scoring=[pll]"]
        assert read_composed_evaluation(compose("evaluate", asked)).probes.scoring == ("pll",)

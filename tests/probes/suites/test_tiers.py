"""Tiers: a model of the built-in corpus is asked the core suites, any other the full ones, and what was left out is told."""

import logging

import pytest
from concord.probes.challenge_set import SetError
from concord.probes.probe_preparation import make_probe
from concord.settings.probing import ProbeSettings
from set_files import write

SUITES = {"name": "suites", "format": "syntaxgym", "path": "suites/{lang}", "groupings": {}}


def names(language: str, built_in: bool | None, **settings) -> list[str]:
    return make_probe(ProbeSettings(**SUITES | settings), language, "joined", built_in).constructions


@pytest.mark.parametrize(("language", "core", "full"), [("es", 9, 26), ("en", 8, 33)])
def test_models_are_asked_the_suites_whose_words_they_can_know(language, core, full, caplog):
    with caplog.at_level(logging.INFO):
        built_in, others = names(language, True), names(language, False)
    assert (len(built_in), len(others)) == (core, full)
    assert all(name.startswith("core_") for name in built_in)
    assert not any(name.startswith("core_") for name in others)
    assert f"{core} of the tier core; left out (probes.tier=): {full} of the tier full" in caplog.text
    assert len(names(language, None)) == core + full


def test_a_tier_that_is_asked_for_is_asked_whatever_the_model():
    assert len(names("es", False, tier="core")) == 9
    assert len(names("es", True, tier="full")) == 26
    assert len(names("es", True, tier="all")) == 35


def test_suites_that_are_named_are_asked_whatever_their_tier():
    assert names("es", True, constructions=("sva_basic", "core_fgd")) == ["core_fgd", "sva_basic"]


def test_published_suites_have_no_core(tmp_path):
    folder = str(write(tmp_path, "syntaxgym"))
    assert names("en", True, path=folder) == names("en", False, path=folder)
    with pytest.raises(SetError, match="no suite of the tier core; available: full"):
        names("en", True, path=folder, tier="core")


def test_sets_of_pairs_have_no_tiers():
    agreement = ProbeSettings("agreement", format="grammar", path="grammars/{lang}", limit=1)
    assert make_probe(agreement, "es", "split", True).constructions == make_probe(agreement, "es", "split", False).constructions

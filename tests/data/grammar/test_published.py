"""The French grammars and sets published with CLAMS, where they are at hand; and the same claims on a grammar of our own."""

import lzma
from pathlib import Path

import pytest
from concord.data.grammar import Expansion, constructions, load
from concord.data.grammar.audit import audit

PUBLISHED = Path(__file__).resolve().parents[4] / "shared/reference/clams_fr"
needs_published = pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published CLAMS files are not on this machine")
SETS = [
    "long_vp_coord",
    "obj_rel_across_anim",
    "obj_rel_within_anim",
    "prep_anim",
    "simple_agrmt",
    "subj_rel",
    "vp_coord",
]


@needs_published
@pytest.mark.parametrize("name", SETS)
def test_published_grammars_give_the_published_sets_line_for_line(name):
    expansion = Expansion(load(PUBLISHED / "grammars", name))
    ours = [f"{s.grammatical}\t{s.text}" for group in expansion for s in group.sentences]
    with lzma.open(PUBLISHED / f"evalset/{name}.txt.xz", "rt", encoding="utf-8") as file:
        assert ours == file.read().splitlines()


@needs_published
def test_published_sets_have_the_faults_that_are_known():
    assert constructions(PUBLISHED / "grammars") == SETS
    found = {name: audit(Expansion(load(PUBLISHED / "grammars", name))) for name in SETS}
    assert {name: a.tautologies for name, a in found.items() if a.tautologies} == {"long_vp_coord": 100, "vp_coord": 140}
    assert found["subj_rel"].cells == {(a, b): 2800 for a in ("singular", "plural") for b in ("singular", "plural")}
    assert sum(a.groups for a in found.values()) == 49_360


def test_a_folder_in_the_published_layout_gets_its_features_from_the_sidecar(folder):
    path = folder(
        common="Det[3,p] les\nN_1[3,p,m] chats | chiens\nNP_1[3,s,m] le chat | le chien\nNP_2[3,s] l' âne | le roi de Rome",
        obj_rel_within_anim=(
            "vary: V_1[]\n\nS[] Det[3,p] N_1[3,p,m] que NP_2[3,s] V_1[3,s] V_2[3,p]\n\n"
            "V_1[3,s] aime\nV_1[3,p] aiment\nV_2[3,p] dorment\n"
        ),
    )
    groups = list(Expansion(load(path, "obj_rel_within_anim")))
    assert [f"{s.grammatical}\t{s.text}" for group in groups for s in group.sentences] == [
        "True\tles chats que l' âne aime dorment",
        "False\tles chats que l' âne aiment dorment",
        "True\tles chiens que l' âne aime dorment",
        "False\tles chiens que l' âne aiment dorment",
        "True\tles chats que le roi de Rome aime dorment",
        "False\tles chats que le roi de Rome aiment dorment",
        "True\tles chiens que le roi de Rome aime dorment",
        "False\tles chiens que le roi de Rome aiment dorment",
    ]
    assert groups[0].features == {"subject_number": "singular", "attractor_number": "plural", "distance": 0}

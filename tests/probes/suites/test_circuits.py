"""Circuits, their means, the SG score and stability."""

import pytest
from concord.probes.suites.circuits import (
    CIRCUITS,
    MODIFIED,
    base_of,
    circuit_means,
    circuit_of,
    published_circuit,
    sg_score,
    stability,
    stability_means,
)
from concord.probes.suites.json_files import suite_from


def suite(**meta):
    conditions = [{"condition_name": "a", "regions": [{"region_number": 1, "content": "x"}]}]
    return suite_from({"meta": meta, "predictions": [], "items": [{"item_number": 1, "conditions": conditions}]}, "a.json")


@pytest.mark.parametrize(
    ("name", "circuit"),
    [
        ("number_prep", "agreement"),
        ("npi_orc_any", "licensing"),
        ("reflexive_src_fem", "licensing"),
        ("center_embed_mod", "center_embedding"),
        ("fgd-embed3", "long_distance"),
        ("fgd_hierarchy", "long_distance"),
        ("cleft_modifier", "long_distance"),
        ("subordination", "gross_state"),
        ("subordination_pp-pp", "gross_state"),
        ("mvrr", "garden_path"),
        ("npz_obj_mod", "garden_path"),
        ("nn-nv-rpl", ""),
        ("mine", ""),
    ],
)
def test_published_names_have_circuits(name, circuit):
    assert published_circuit(name) == circuit
    assert circuit_of(suite(name=name)) == circuit


def test_what_a_suite_declares_comes_first():
    assert circuit_of(suite(name="number_prep", circuit="linearization")) == "linearization"
    assert base_of(suite(name="mvrr_mod", base="other")) == "other"
    assert base_of(suite(name="subordination_src-src")) == "subordination"
    assert base_of(suite(name="subordination")) == ""


def test_circuits_are_unweighted_means_of_suites():
    accuracies = {"number_a": 1.0, "number_b": 0.5, "mvrr": 0.25, "nn-nv-rpl": 0.0}
    circuits = {name: published_circuit(name) for name in accuracies}
    assert circuit_means(accuracies, circuits) == {"agreement": 0.75, "garden_path": 0.25}
    assert list(circuit_means({"a": 1, "b": 0}, {"a": "own", "b": "licensing"})) == ["licensing", "own"]
    assert sg_score(accuracies) == 1.75 / 4


def test_modified_versions_are_averaged_within_their_phenomenon_first():
    accuracies = {"sub": 1.0, "sub_orc": 0.5, "sub_src": 0.7, "npz": 0.8, "npz_mod": 0.2, "lonely_mod": 0.0}
    rows = stability(accuracies, {"sub_orc": "sub", "sub_src": "sub", "npz_mod": "npz", "lonely_mod": "lonely", "gone": "npz"})
    assert [(row.base, row.modified, row.without, row.within) for row in rows] == [
        ("sub", ("sub_orc", "sub_src"), 1.0, pytest.approx(0.6)),
        ("npz", ("npz_mod",), 0.8, 0.2),
    ]
    assert stability_means(rows) == (0.9, pytest.approx(0.4))


def test_the_published_pairs_are_eight_suites_of_six_phenomena():
    assert len(MODIFIED) == 6
    assert sum(map(len, MODIFIED.values())) == 8
    assert all(published_circuit(name) in CIRCUITS for versions in MODIFIED.values() for name in versions)

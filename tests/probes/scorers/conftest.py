"""One model of each family for all tests of a session."""

import functools

import pytest
from concord.probes.scorers.pretrained import load
from pretrained_models import save


@pytest.fixture(scope="session")
def pretrained(tmp_path_factory):
    """`pretrained("bert")`: a tiny model, loaded as a user's would be."""

    @functools.cache
    def loaded(family):
        return load(str(save(family, tmp_path_factory.mktemp(family))))

    return loaded

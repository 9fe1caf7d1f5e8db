"""Errors for users: what they say survives every way they take."""

import pickle

import pytest
from concord.data.trees import TreeError
from concord.errors import UserError
from concord.probes.challenge_set import SetError

ERRORS = [UserError("a: b"), TreeError("a.conllu", 3, "no"), SetError("a.csv", 4, "no")]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_come_back_from_other_processes_as_they_were(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)

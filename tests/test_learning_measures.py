"""What benchmarks/learning.py measures: agreement in prose is what asking at each place, one at a time, finds."""

import numpy as np
import pytest
import torch
from concord.data.vocabulary import EOS_ID
from concord.lm.model import initialise_model
from concord.runs.fit import architecture

from benchmarks import learning

PAIR = ("der", "die")  # any two words that are frequent in the small corpus


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    return learning.read_text(None, "de", 0, 0, tmp_path_factory.mktemp("corpora"))


def one_at_a_time(model, text):
    """The log odds of the plural form wherever one of the two was written, by what was written."""
    found = {form: [] for form in PAIR}
    one, many = (text.vocabulary.encode_word(form)[0] for form in PAIR)
    for split in (text.valid, text.test):
        for start, end in zip(split.offsets[:-1], split.offsets[1:], strict=True):
            words = split.ids[start:end].tolist()
            for place, word in enumerate(words):
                if word in (one, many):
                    context = torch.tensor([[EOS_ID, *words[:place]]])
                    logits = model.decoder(model.contexts(context)[0][0, -1])
                    found[PAIR[word == many]].append(float(logits[many] - logits[one]))
    return found


def test_agreement_in_prose_is_that_of_every_place_asked_alone(text, monkeypatch):
    monkeypatch.setitem(learning.FORMS, "de", [PAIR])
    settings = learning.read_settings("lang=de", "model.network.hidden=8", "model.embedding=8")
    model = initialise_model(architecture(settings.model, len(text.vocabulary)), 1).eval()
    with torch.no_grad():
        expected = one_at_a_time(model, text)
    found = learning.ask_prose(model, text, "de")["/".join(PAIR)]
    singular, plural = (np.array(expected[form]) for form in PAIR)
    assert found["n"] == len(singular) + len(plural) > 20
    assert found["plurals"] == len(plural)
    right = [np.mean([value < 0 for value in singular]), np.mean([value > 0 for value in plural])]
    assert found["accuracy"] == pytest.approx(sum(right) / 2)
    assert found["rise"] == pytest.approx(plural.mean() - singular.mean(), abs=1e-5)
    errors = [values.var(ddof=1) / len(values) for values in (singular, plural)]
    assert found["error"] == pytest.approx(sum(errors) ** 0.5, rel=1e-4)


def test_a_model_without_a_preference_for_number_stands_at_one_half():
    always_singular = learning.judge_odds(np.array([-2.0, -1.0, -3.0]), np.array([-2.0, -2.5]))
    assert always_singular["accuracy"] == 0.5
    assert always_singular["rise"] == pytest.approx(-0.25)

"""Models that know nothing of syntax, on published suites: a constant one and one that knows words alone."""

import hashlib
import json
import lzma
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from concord.probes.models import wrap_function
from concord.probes.probe import Probe
from concord.probes.verdicts import Verdicts, judge
from suite_judging import suite_probe

PUBLISHED = Path(__file__).resolve().parents[4] / "shared/reference/syntaxgym"
FILES = sorted(PUBLISHED.glob("*.json.xz")) if PUBLISHED.is_dir() else []


def ask(probe: Probe, surprisal: Callable[[str], float]) -> Verdicts:
    """A model whose surprisal of a word, in bits, depends on the word alone."""
    model = wrap_function(lambda texts: [[-surprisal(w) * math.log(2) for w in text.split()] for text in texts], "blind")
    return judge(probe, model.scorer.score(probe.sentences))


def copy(file: Path, folder: Path, **meta: str) -> Path:
    """A published file, unpacked, with further facts in its head."""
    document = json.loads(lzma.decompress(file.read_bytes()))
    folder.mkdir(exist_ok=True)
    (folder / file.stem).write_text(json.dumps(document | {"meta": document["meta"] | meta}), encoding="utf-8")
    return folder


def by_letters(word: str) -> float:
    return hashlib.blake2b(word.encode(), digest_size=1).digest()[0] / 8


@pytest.mark.skipif(not FILES, reason="the published suites are not here")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_model_without_context_is_never_right_and_always_ties(file, tmp_path):
    probe = suite_probe(copy(file, tmp_path), protocol="hu2020")  # the first prediction counts
    for surprisal in (lambda word: 1.0, by_letters):
        verdicts = ask(probe, surprisal)
        assert verdicts.covered.all()
        assert verdicts.verdict.sum() == 0
    if file.name == "number_prep.json.xz":  # is < are and are < is: one of the two fails by as much as the other holds
        assert (verdicts.margin <= 0).all()
    else:
        assert verdicts.tie.all()


@pytest.mark.skipif(not FILES, reason="the published suites are not here")
def test_the_first_prediction_counts_alone_and_all_count_together(tmp_path):
    file = PUBLISHED / "fgd_hierarchy.json.xz"
    probes = {rule: suite_probe(copy(file, tmp_path / rule, item_rule=rule)) for rule in ("first", "all", "each")}
    # Every word of every sentence gets noise of its own, and the same under every rule.
    noise = {sentence: np.random.default_rng(i).uniform(0, 20, 30) for i, sentence in enumerate(probes["first"].sentences)}
    found = {rule: judged_on(probe, noise) for rule, probe in probes.items()}
    assert len(found["first"]) == 24
    assert 0 < sum(found["first"]) < 24
    assert found["all"] == [0] * 24  # the second prediction asks for equality
    assert found["each"][::2] == found["first"]
    assert found["each"][1::2] == [0] * 24


def judged_on(probe: Probe, noise: dict) -> list[float]:
    rows = iter(noise[sentence] for sentence in probe.sentences)
    model = wrap_function(lambda texts: [list(-next(rows)[: len(text.split())]) for text in texts], "noise")
    return judge(probe, model.scorer.score(probe.sentences)).verdict.tolist()

"""Regions on disk: what they add up to, for every way of cutting words into pieces, against the characters of the text."""

import lzma
import math
from pathlib import Path

import numpy as np
import pytest
from concord.data.pieces import PieceRule
from concord.data.vocabulary import Counts, Vocabulary
from concord.probes.contract_statement import state_contract
from concord.probes.models import wrap_function
from concord.probes.probe_preparation import make_probe
from concord.probes.region_files import read_regions, region_rows, regions_beside, save_regions
from concord.probes.scorers import WordScores
from concord.probes.scorers.pretrained.scores import mark_words, word_scores
from concord.probes.scorers.pretrained.word_pieces import tokenise
from concord.probes.suites.region_sentence import sentence_of
from concord.probes.suites.suite_files import files_of, read
from concord.probes.verdicts import judge
from concord.settings.probing import ProbeSettings
from pretrained_models import cut

PUBLISHED = Path(__file__).resolve().parents[4] / "shared/reference/syntaxgym"
SUITES = Path(__file__).resolve().parents[3] / "suites"
FAMILIES = {"bert": True, "xlm-roberta": True, "gpt2": False}  # whether the model reads marks at both ends
SMALL = """\
name: small
language: en
circuit: agreement
joiner: running
regions: subject | pp | verb | end
conditions:
  match: The {n} | | {v} | .
  mismatch: The {n} | | {w} | .
  aside: The {n} | there | {v} | .
predictions:
  verb: verb@match < verb@mismatch - 0.5
items:
  n | v | w
  dog | barks | bark
  zyx | sleeps | sleep
"""


def probe_of(folder: Path, language: str, **settings):
    described = {"name": "suites", "format": "syntaxgym", "path": str(folder), "groupings": {}, "tier": "all"}
    return make_probe(ProbeSettings(**described | settings), language, "joined")


def value_of(piece: int) -> float:
    """A log-probability that depends on the piece alone: halves, so that every sum is exact."""
    return -((piece * 7919) % 64 + 1) / 2


def scored_by_pieces(probe, family: str) -> WordScores:
    """As the scorers of pretrained models do: pieces with their words, then their sums."""
    made = tokenise(cut(family), probe.sentences, "written", FAMILIES[family])
    words, values, first = [], [], 0
    for pieces in made:
        own = pieces.words >= 0
        words += (first + pieces.words[own]).tolist()
        values += [value_of(piece) for piece in pieces.ids[own].tolist()]
        first += len(pieces.unknown)
    return word_scores(made, words, np.array(values, np.float32), mark_words(made, probe.sentences, []))


def by_characters(folder: Path, language: str, family: str) -> dict[tuple[str, str, str, int], tuple[float, int]]:
    """The oracle: the text of a condition is cut as it stands; a piece belongs to the region of its first letter."""
    found = {}
    for suite in map(read, files_of([folder])):
        for item in suite.items:
            for condition in item.conditions:
                made = sentence_of(suite, item, condition, language)
                encoded = cut(family)(made.text, add_special_tokens=False, return_offsets_mapping=True)
                starts = [next((i for i in range(a, b) if not made.text[i].isspace()), b) for a, b in encoded["offset_mapping"]]
                for region in made.regions:
                    own = [
                        piece
                        for piece, start in zip(encoded["input_ids"], starts, strict=True)
                        if region.start <= start < region.end
                    ]
                    key = (suite.name, str(item.number), condition.name, region.number)
                    found[key] = (math.fsum(-value_of(piece) / math.log(2) for piece in own), len(own))
    return found


@pytest.fixture(scope="session")
def published(tmp_path_factory) -> Path:
    if not PUBLISHED.is_dir():
        pytest.skip("the published suites are not here")
    folder = tmp_path_factory.mktemp("syntaxgym")
    for file in PUBLISHED.glob("*.json.xz"):
        (folder / file.stem).write_bytes(lzma.decompress(file.read_bytes()))
    return folder


@pytest.mark.parametrize("family", FAMILIES)
def test_regions_of_published_suites_hold_the_pieces_that_begin_in_them(published, family):
    compare_regions(published, "en", family)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("language", ["en", "es"])
def test_regions_of_our_suites_hold_the_pieces_that_begin_in_them(family, language):
    compare_regions(SUITES / language, language, family)


def compare_regions(folder: Path, language: str, family: str) -> None:
    """Region by region, and all of them with all that was scored."""
    probe = probe_of(folder, language, rules={"duplicates": "all"})
    scores = scored_by_pieces(probe, family)
    expected = by_characters(folder, language, family)
    rows = list(region_rows(probe, scores))
    assert len(rows) == len(expected)
    for row in rows:
        bits, pieces = expected[row["construction"], row["item"], row["condition"], row["region"]]
        assert row["bits"] == pytest.approx(bits, abs=1e-4), row
        assert row["pieces"] == pieces, row
    # Conditions of an item that are the same sentence are scored once.
    sentences: dict[tuple[str, str, str], list[str]] = {}
    sums: dict[tuple[str, str, str], float] = {}
    for row in rows:
        key = (row["construction"], row["item"], row["condition"])
        sentences.setdefault(key, []).extend(row["words"])
        sums[key] = sums.get(key, 0.0) + row["bits"]
    once = {(suite, item, *sentences[suite, item, condition]): value for (suite, item, condition), value in sums.items()}
    assert len(once) == len(probe.sentences)
    assert math.fsum(once.values()) == pytest.approx(
        math.fsum(-float(value) / math.log(2) for value in scores.logprobs), rel=1e-9
    )


@pytest.mark.parametrize("kind", ["words", "pieces"])
@pytest.mark.parametrize("language", ["en", "es"])
def test_models_of_ours_score_the_words_of_every_region(tmp_path, language, kind):
    compare_sums(probe_of(SUITES / language, language, tier="core"), kind, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["words", "pieces"])
@pytest.mark.parametrize("language", ["en", "es", "published"])
def test_models_of_ours_score_the_words_of_every_region_of_all_suites(request, tmp_path, language, kind):
    published = language == "published"
    folder = request.getfixturevalue("published") if published else SUITES / language
    compare_sums(probe_of(folder, "en" if published else language, rules={"duplicates": "all"}), kind, tmp_path)


def compare_sums(probe, kind: str, folder: Path) -> None:
    """The regions of every condition add up to its sentence, for a random LSTM of words or of pieces of ours."""
    from concord.lm.model import Architecture, initialise_model
    from concord.probes.scorers.incremental import IncrementalScorer
    from training_runs import NETWORKS

    words = sorted({word for sentence in probe.sentences for word in sentence.words.split()})
    counts = Counts(folder)
    counts.add(words, np.ones(len(words), np.int64))
    known = Vocabulary(["<eos>", "<unk>", *words]) if kind == "words" else PieceRule(400).learn(counts)
    model = initialise_model(Architecture(len(known), 4, tied=True, dropout=0.0, init=0.5, network=NETWORKS["lstm"]), seed=1)
    scores = IncrementalScorer("x", model, known).score(probe.sentences)
    rows = list(region_rows(probe, scores))
    conditions: dict[tuple[str, str, str], list[dict]] = {}
    for row in rows:
        conditions.setdefault((row["construction"], row["item"], row["condition"]), []).append(row)
    wanted = {each.words: float(-scores[n].astype(np.float64).sum() / math.log(2)) for n, each in enumerate(probe.sentences)}
    found = {
        " ".join(w for row in own for w in row["words"]): math.fsum(row["bits"] for row in own) for own in conditions.values()
    }
    assert found == pytest.approx(wanted, rel=1e-6)
    assert len(conditions) >= len(probe.sentences)  # conditions of an item that are the same sentence are scored once
    per_word = [len(known.encode_word(word)) for row in rows for word in row["words"]]
    assert sum(row["pieces"] for row in rows) == sum(per_word)
    assert (max(per_word) > 1) == (kind == "pieces")


def test_the_file_has_every_condition_and_names_unknown_words(tmp_path):
    (tmp_path / "small.suite").write_text(SMALL, encoding="utf-8")
    probe = probe_of(tmp_path, "en")
    known = {"The", "dog", "barks", "bark", "sleeps", "sleep", "there", "."}
    model = wrap_function(lambda texts: [[-float(len(word)) for word in text.split()] for text in texts], "letters", None, known)
    scores = model.scorer.score(probe.sentences)
    file = regions_beside(tmp_path / "items-letters.parquet")
    assert file.name == "regions-letters.parquet"
    save_regions(file, probe, scores, {"contract": state_contract(probe, model.scorer)})
    rows = read_regions(file)
    assert len(rows) == 2 * 3 * 4
    first = {(row["condition"], row["name"]): row for row in rows if row["item"] == "1"}
    assert first["aside", "pp"]["words"] == ["there"]
    assert first["aside", "pp"]["bits"] == pytest.approx(5 / math.log(2))
    assert (first["match", "pp"]["words"], first["match", "pp"]["bits"], first["match", "pp"]["pieces"]) == ([], 0, None)
    assert [row["unknown"] for row in rows if row["item"] == "2" and row["name"] == "subject"] == [["zyx"]] * 3
    assert judge(probe, scores).covered.tolist() == [True, True]  # unknown where no prediction looks


def test_sets_without_regions_have_no_such_file(tmp_path):
    (tmp_path / "pairs.txt").write_text("True\tthe dog barks\nFalse\tthe dog bark\n", encoding="utf-8")
    probe = probe_of(tmp_path, "en", format="clams")
    left = tmp_path / "regions.parquet"
    left.write_bytes(b"of before")
    model = wrap_function(lambda texts: [[-1.0 for _ in text.split()] for text in texts], "constant")
    save_regions(left, probe, model.scorer.score(probe.sentences), {})
    assert not left.exists()

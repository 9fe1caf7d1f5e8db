"""Scores of other tools: the same verdicts as when the model is asked here, whatever the file looks like."""

import csv
import json
import math
from pathlib import Path
from typing import Any

import concord
import numpy as np
import pyarrow as pa
import pytest
from concord.errors import UserError
from concord.probes.evaluation import ask
from concord.probes.models import load_scores
from concord.probes.scorers import ProbeSentence
from concord.probes.scorers.from_file import FileScorer
from concord.probes.scorers.score_file import read_score_file
from concord.settings.languages import read_language
from concord.settings.training_settings import ScoreFileSettings
from pyarrow import parquet
from training_runs import ROOT

GERMAN = ROOT / "tests/fixtures/before/models/grammar-de.ckpt"


@pytest.fixture(scope="module")
def asked() -> concord.ProbeResult:
    return concord.probe(concord.load(GERMAN), concord.sets("de", "prep", "simple_agrmt", limit=20))


def words_of(result: concord.ProbeResult) -> list[tuple[list[str], list[float]]]:
    """Every sentence with the log-probability of its words, each once."""
    found = {}
    for number, sentence in enumerate(result.probe.sentences):
        found[sentence.words] = (sentence.words.split(), result.answer.scores[number].astype(float).tolist())
    return list(found.values())


def write(file: Path, rows: list[dict[str, Any]]) -> Path:
    """As an independent script would: nothing of ours but the sentences."""
    if file.suffix == ".jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    elif file.suffix == ".parquet":
        parquet.write_table(pa.Table.from_pylist(rows), file)
    else:
        with file.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]), delimiter="," if file.suffix == ".csv" else "\t")
            writer.writeheader()
            writer.writerows(rows)
    return file


def read(file: Path, result: concord.ProbeResult, **settings: Any) -> Any:
    model = load_scores(ScoreFileSettings(path=str(file), **settings), read_language("de"), [result.probe])
    return ask(model, result.probe)


def by_word(result: concord.ProbeResult, column: str, factor: float, identity: str = "sentence") -> list[dict[str, Any]]:
    rows = []
    for number, (words, values) in enumerate(words_of(result)):
        key = " ".join(words) if identity == "sentence" else number
        rows += [{identity: key, "word": word, column: repr(value * factor)} for word, value in zip(words, values, strict=True)]
    return rows


@pytest.mark.parametrize(
    ("suffix", "column", "factor", "settings"),
    [
        (".tsv", "loss", -1.0, {}),
        (".csv", "surprisal", -1 / math.log(2), {"base": 2}),
        (".tsv", "surprisal_bits", -1 / math.log(2), {}),
        (".jsonl", "logprob", 1 / math.log(10), {"base": 10}),
        (".parquet", "mine", 1.0, {"column": "mine", "values": "logprob"}),
    ],
)
@pytest.mark.parametrize("identity", ["sentence", "sentence_id"])
def test_scores_of_words_give_the_verdicts_of_the_model(asked, tmp_path, suffix, column, factor, settings, identity):
    file = write(tmp_path / f"scores{suffix}", by_word(asked, column, factor, identity))
    found = read(file, asked, **settings)
    assert found.table == asked.answer.table
    np.testing.assert_allclose(found.scores.logprobs, asked.answer.scores.logprobs, atol=1e-5)


def test_sentences_regions_and_pieces(asked, tmp_path):
    whole = [{"sentence": " ".join(words), "loss": -math.fsum(values)} for words, values in words_of(asked)]
    assert read(write(tmp_path / "whole.csv", whole), asked).table == asked.answer.table
    lists = [{"words": words, "losses": [-value for value in values]} for words, values in words_of(asked)]
    assert read(write(tmp_path / "lists.jsonl", lists), asked).table == asked.answer.table
    regions = []
    for number, (words, values) in enumerate(words_of(asked)):
        parts = ((words[:2], values[:2]), (words[2:], values[2:]))
        regions += [{"sentence_id": number, "region": " ".join(w), "loss": -math.fsum(v)} for w, v in parts]
    assert read(write(tmp_path / "regions.tsv", regions), asked).table == asked.answer.table
    pieces = []
    for number, (words, values) in enumerate(words_of(asked)):
        for word, value in zip(words, values, strict=True):
            cut = [f"▁{word[:2]}", word[2:]] if len(word) > 2 else [f"▁{word}"]
            pieces += [{"sentence_id": number, "piece": piece, "logprob": value / len(cut)} for piece in cut]
    np.testing.assert_allclose(
        read(write(tmp_path / "pieces.jsonl", pieces), asked).scores.logprobs, asked.answer.scores.logprobs, atol=1e-5
    )


def test_items_by_uid_and_our_own_files_come_back(asked, tmp_path):
    asked.save(tmp_path / "ours")
    again = read(tmp_path / "ours/items.parquet", asked)
    assert again.table == asked.answer.table
    rows = [
        {"uid": row.uid, "role": role, "surprisal_nats": -getattr(row, f"{role}_score")}
        for row in asked.verdicts.itertuples()
        for role in ("good", "bad")
    ]
    assert read(write(tmp_path / "items.tsv", rows), asked).table == asked.answer.table
    rows.append({"uid": "0" * 16, "role": "good", "surprisal_nats": 1.0})
    assert read(write(tmp_path / "more.tsv", rows), asked).table == asked.answer.table


def test_what_is_missing_repeated_or_wrong_is_said(asked, tmp_path, caplog):
    rows = [{"sentence": " ".join(words), "loss": -math.fsum(values)} for words, values in words_of(asked)]
    with caplog.at_level("WARNING"):
        found = read(write(tmp_path / "missing.csv", rows[1:]), asked)
    assert sum(row.all.uncovered for row in found.table.rows) == 1
    assert f"1 of {len(rows)} sentences are missing" in caplog.text
    with caplog.at_level("WARNING"):
        found = read(write(tmp_path / "twice.csv", [*rows, rows[0]]), asked)
    assert found.table == asked.answer.table
    assert "1 rows repeating a sentence with the same scores" in caplog.text
    other = {**rows[0], "loss": rows[0]["loss"] + 1}
    with pytest.raises(UserError, match=r"a second, different score for one sentence.*Keep one of them"):
        read(write(tmp_path / "other.csv", [*rows, other]), asked)
    surprisals = [{"sentence": row["sentence"], "surprisal": row["loss"]} for row in rows]
    with pytest.raises(UserError, match=r"model.base= is required: surprisals come in bits \(2\), nats \(e\) or base 10"):
        read(write(tmp_path / "base.csv", surprisals), asked)
    with pytest.raises(UserError, match=r"model\.base=3: the base of the logarithms must be e, 2 or 10"):
        read(tmp_path / "base.csv", asked, base=3)
    bits = [{"sentence": row["sentence"], "surprisal_bits": row["loss"]} for row in rows]
    with pytest.raises(UserError, match=r"model\.base=10, but the column surprisal_bits says base 2"):
        read(write(tmp_path / "bits.csv", bits), asked, base=10)
    with pytest.raises(UserError, match=r"as logprob would be a probability above 1; is it model\.values=surprisal\?"):
        read(write(tmp_path / "sign.csv", rows), asked, values="logprob")
    bare = [{"sentence": row["sentence"].removesuffix(" ."), "loss": row["loss"]} for row in rows]
    with pytest.raises(UserError, match=r": it scores none of the \d+ sentences.*probes\.rules\.final=false"):
        read(write(tmp_path / "bare.csv", bare), asked)
    with pytest.raises(UserError, match=r"no column is called logprob, surprisal or loss; name it with model\.column="):
        read(write(tmp_path / "none.csv", [{"sentence": "a", "x": 1}]), asked)
    with pytest.raises(
        UserError,
        match=r"what do these scores belong to\? There must be a column sentence, sentence_id, or uid and role; available:",
    ):
        read(write(tmp_path / "whose.csv", [{"loss": 1}]), asked)
    with pytest.raises(UserError, match=": no such score file"):
        read(tmp_path / "nothing.csv", asked)


def test_a_region_cannot_tell_about_a_word_inside_it(tmp_path):
    rows = [{"sentence": sentence, "loss": loss} for sentence, loss in (("a b c", 3.0), ("a x c", 4.0))]
    file = write(tmp_path / "whole.tsv", rows)
    scores = FileScorer(file, read_score_file(file, None, None, None)).score([ProbeSentence("a b c"), ProbeSentence("a x c")])
    assert scores.inseparable is not None
    assert scores.inseparable.tolist() == [False, True, True] * 2
    (tmp_path / "set.tsv").write_text("good\tbad\na b c\ta x c\n", encoding="utf-8")
    for contrast, uncovered in (("sentence", 0), ("target", 1)):
        result = concord.probe(
            concord.model(lambda texts: [[-1.0] * len(t.split()) for t in texts]),
            concord.sets(tmp_path / "set.tsv"),
            final=False,
            contrast=contrast,
        )
        model = load_scores(ScoreFileSettings(path=str(file)), read_language("en"), [result.probe])
        if uncovered:
            with pytest.raises(UserError):
                ask(model, result.probe)
        else:
            assert ask(model, result.probe).table.rows[0].all.accuracy == 1.0


def test_a_sentence_that_is_cut_takes_the_scores_of_a_longer_one(tmp_path):
    rows = [{"words": ["a", "b", "c"], "losses": [None, 1.0, 2.0]}, {"words": ["a", "b", "d"], "losses": [None, 1.0, 5.0]}]
    file = write(tmp_path / "words.jsonl", rows)
    read_file = read_score_file(file, None, None, None)
    assert read_file.given == 2
    scorer = FileScorer(file, read_file)
    assert scorer.score([ProbeSentence("a b")]).logprobs.tolist() == [0.0, -1.0]
    assert "losses by word, logarithms to base e" in scorer.reading.source
    other = write(tmp_path / "other.jsonl", [rows[0], {"words": ["a", "b", "d"], "losses": [None, 9.0, 5.0]}])
    with pytest.raises(UserError, match="none of the 1 sentences"):
        FileScorer(other, read_score_file(other, None, None, None)).score([ProbeSentence("a b")])

"""`python train.py` on real corpora: pieces of words, several languages, published files, one's own."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from concord.commands import evaluate as evaluate_module
from concord.data.batches import BatchPlan, EvaluationLoader
from concord.data.corpus import VocabularyRule, prepare
from concord.data.grammar import folder_of
from concord.data.pieces import PieceRule, Pieces
from concord.data.selection import Selection
from concord.data.sources import JoinedSource, TextSource, challenge_sentences
from concord.data.text import TokenizedText
from concord.errors import UserError
from concord.lm.checkpoints import check_resumable, load_model, read_checkpoint
from concord.lm.perplexity import Tally
from concord.runs.continuing import corpus_recipe
from concord.runs.metrics_file import read as rows_of
from concord.runs.run_preparation import prepare_corpus
from concord.settings.evaluation_settings import EvaluationSettings
from concord.settings.overrides import read_composed_evaluation
from concord.settings.run import RunSettings
from hydra import compose, initialize_config_dir
from publisher import published
from training_runs import ROOT, TINY, WITHOUT_PROBES, clean, command, recipe, run, same_weights, train
from training_runs import settings as compose_settings

STEMS = "seh hör jag lieb kenn ruf lach wein sing tanz lauf renn".split()  # noqa: SIM905
LINES = [f"der {a}er {b}t den {b}enden {a}enden ." for a in STEMS for b in STEMS]


def text(folder: Path, name: str = "a.txt", lines: list[str] = LINES) -> TextSource:
    (folder / name).write_text("\n".join(lines), encoding="utf-8")
    return TextSource({"all": folder / name}, TokenizedText(), seed=0)


def last(metrics: Path, name: str) -> float:
    return [row[name] for row in rows_of(metrics) if name in row][-1]


def test_perplexity_per_word_divides_by_words_and_sentence_ends(tmp_path):
    corpus = prepare(text(tmp_path), PieceRule(320), tmp_path / "cache")
    result = run(tmp_path / "run", recipe("lstm"), corpus)
    model, tokenizer, about = load_model(tmp_path / "run/checkpoints/best.ckpt")
    assert isinstance(tokenizer, Pieces)
    nll = 0.0
    for batch in EvaluationLoader(corpus.test, 100, BatchPlan()):
        log_probabilities = model(batch.inputs)[0].detach()
        wanted = batch.targets >= 0
        nll -= float(log_probabilities[wanted].gather(1, batch.targets[wanted][:, None]).sum())
    assert result["test/perplexity"] == pytest.approx(math.exp(nll / corpus.test.tokens), rel=1e-4)
    per_word = math.exp(nll / (corpus.test.spelled + len(corpus.test)))
    assert result["test/perplexity_word"] == pytest.approx(per_word, rel=1e-4)
    assert per_word > result["test/perplexity"]
    assert last(tmp_path / "run/metrics.csv", "valid/perplexity_word") > last(tmp_path / "run/metrics.csv", "valid/perplexity")
    assert about["vocabulary"] == tokenizer.words
    assert last(tmp_path / "run/metrics.csv", "progress/words_seen") == 2 * corpus.train.spelled  # two epochs, in words


def test_a_checkpoint_carries_its_pieces_and_nothing_that_can_run(tmp_path):
    corpus = prepare(text(tmp_path), PieceRule(320), tmp_path / "cache")
    made = recipe("lstm", max_epochs=1)
    run(tmp_path / "run", made, corpus)
    best = tmp_path / "run/checkpoints/best.ckpt"
    plain = torch.load(best, weights_only=True)["concord"]
    assert plain["tokenizer"]["kind"] == "sentencepiece"
    assert str(tmp_path) not in str(plain)
    tokenizer = load_model(best)[1]
    words = LINES[3].split()
    assert tokenizer.encode(words) == corpus.vocabulary.encode(words)
    check_resumable(best, load_model(best)[0], corpus.vocabulary)
    assert read_checkpoint(best)["concord"]["vocabulary"] == corpus.vocabulary.words


def test_word_models_have_perplexity_per_token_only(tmp_path):
    corpus = prepare(text(tmp_path), VocabularyRule(None), tmp_path / "cache")
    result = run(tmp_path / "run", recipe("lstm", max_epochs=1), corpus)
    assert "test/perplexity_word" not in result
    tally = Tally()
    tally.add(torch.tensor(6.0), 3)
    assert tally.perplexity_word == tally.perplexity == math.exp(2)


def test_each_language_has_its_own_perplexity(tmp_path):
    french = [line.translate(str.maketrans("derntls", "DERNTLS")) for line in LINES]
    source = JoinedSource({"de": text(tmp_path, "de.txt"), "fr": text(tmp_path, "fr.txt", french)})
    corpus = prepare(source, VocabularyRule(None), tmp_path / "cache", Selection(shuffle=True))
    result = run(tmp_path / "run", recipe("lstm"), corpus)
    metrics = tmp_path / "run/metrics.csv"
    total = 0.0
    for split, tokens in corpus.by_language(corpus.valid).items():
        total += math.log(last(metrics, f"valid/{split}/perplexity")) * tokens.tokens
    assert math.exp(total / corpus.valid.tokens) == pytest.approx(last(metrics, "valid/perplexity"), rel=1e-6)
    assert {"test/perplexity", "test/de/perplexity", "test/fr/perplexity"} <= set(result)


def settings(folder: Path, *overrides: str) -> RunSettings:
    places = [f"paths.{name}={folder}/{name}" for name in ("runs", "cache", "downloads")]
    return compose_settings(*TINY, *places, "data.limit=null", *overrides)


def evaluation(*overrides: str) -> EvaluationSettings:
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        return read_composed_evaluation(compose("evaluate", list(overrides)))


@pytest.mark.slow
def test_several_languages_from_the_command_line(tmp_path):
    done = train(tmp_path, *TINY, "lang=multi", "lang.languages=[de,fr]", "name=x", "trainer.max_epochs=1")
    about = load_model(tmp_path / "runs/x/checkpoints/best.ckpt")[2]
    assert list(about["languages"]) == ["de", "fr"]
    assert about["languages"]["fr"]["clitics"] == "split"
    row = rows_of(tmp_path / "runs/x/metrics.csv")[-1]
    assert {"test/de/perplexity", "test/fr/perplexity", "test/perplexity"} <= set(row)
    assert "read       48,000 sentences" in done.stdout
    places = [f"paths.results={tmp_path}/results", f"ckpt_path={tmp_path}/runs/x/checkpoints/best.ckpt", "probes.limit=4"]
    evaluate_module.evaluate(evaluation(*places))
    # A checkpoint is asked in every language that it knows.
    names = sorted(each.name.rpartition("-")[0] for each in (tmp_path / "results").iterdir())
    assert names == ["x-best-de-agreement", "x-best-fr-agreement"]
    with pytest.raises(UserError, match="knows de, fr; say which one the sentence is in, for instance lang=de"):
        evaluate_module.evaluate(evaluation(*places, "text=der Gast wartet"))


@pytest.mark.slow
def test_eight_runs_that_start_at_once_share_one_corpus(tmp_path):
    names = [f"r{number}" for number in range(8)]
    own = f"paths.cache={tmp_path}/cache"
    commands = [command(tmp_path, *TINY, own, "trainer.max_epochs=1", f"name={name}") for name in names]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    started = [subprocess.Popen(each, cwd=ROOT, env=clean(tmp_path), **quiet) for each in commands]
    ended = [(process.communicate(timeout=500)[1], process.returncode) for process in started]
    assert all(status == 0 for _, status in ended), ended
    assert len([file for file in (tmp_path / "cache").iterdir() if file.is_dir()]) == 1
    first, *others = (tmp_path / f"runs/{name}/checkpoints/best.ckpt" for name in names)
    assert all(same_weights(first, other) for other in others)  # all have read the same


@pytest.mark.slow
def test_preparing_without_training_and_then_training_from_the_cache(tmp_path):
    (tmp_path / "de").mkdir()
    for name in ("a", "b"):
        (tmp_path / f"de/{name}.txt").write_text("\n".join(LINES), encoding="utf-8")
    chosen = ["data=text", f"data.path='{tmp_path}/{{lang}}/*.txt'", "data.tokenized=true"]
    chosen += ["tokenizer=sentencepiece", "tokenizer.vocabulary_size=320"]
    places = [f"paths.cache={tmp_path}/cache", f"paths.runs={tmp_path}/runs"]
    preparing = [sys.executable, "-m", "concord.commands.corpus", *chosen, *places]
    done = subprocess.run(preparing, cwd=ROOT, env=clean(tmp_path), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "pieces" in done.stdout
    assert "read       288 sentences" in done.stdout
    assert not [file for file in (tmp_path / "runs").glob("*") if file.is_dir()]
    (built,) = (file for file in (tmp_path / "cache").iterdir() if file.is_dir())
    stamp = (built / "about.json").stat().st_mtime_ns
    trained = train(tmp_path, *WITHOUT_PROBES, *chosen, places[0], "name=x", "trainer.max_epochs=1")
    assert (built / "about.json").stat().st_mtime_ns == stamp
    assert "per word" in trained.stdout
    assert "test/perplexity_word" in trained.stdout


def test_the_published_corpora_from_another_address(tmp_path):
    files = {f"/fr_{split}.txt": b"le chien aboie .\nles chiens <unk> .\n" * 20 for split in ("train", "valid", "test")}
    files["/fr_vocab.txt"] = b"le\nles\nchien\nchiens\naboie\n.\n<unk>\n<eos>\n"
    with published(files) as server:
        chosen = ["lang=fr", "data=clams", f"data.address.fr={server.address}/fr_"]
        assert len(prepare_corpus(settings(tmp_path, *chosen)).vocabulary) == 8
    assert (tmp_path / "downloads/clams/fr/train.txt").read_bytes() == files["/fr_train.txt"]
    prepare_corpus(settings(tmp_path, *chosen, "tokenizer.vocabulary_size=4"))  # another corpus of the same files


def test_the_offline_switch(tmp_path, monkeypatch):
    for value in ("1", "true"):
        monkeypatch.setenv("CONCORD_OFFLINE", value)
        with pytest.raises(
            UserError, match=": not fetched because the network is switched off; put the file at .*/downloads/clams/ru/train.txt"
        ):
            prepare_corpus(settings(tmp_path, "lang=ru", "data=clams"))
    for value in ("", "0", "false"):
        monkeypatch.setenv("CONCORD_OFFLINE", value)
        assert corpus_recipe(settings(tmp_path, "lang=ru", "data=clams")).source().offline is False


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["lang=es", "data=clams"], "lang=es: CLAMS has no corpus in this language; available: en, he, fr, de, ru"),
        (
            ["lang=multi", "lang.languages=[de,xx]"],
            r"lang.languages=\['de', 'xx'\]: no xx here; available: de, en, es, fr, he, ru",
        ),
        (["lang=multi", "lang.languages=[de]"], "name two or more; for one language, lang=<language>"),
        (["lang=multi", "lang.languages=[de,de]"], "a language appears twice"),
        (
            ["lang=multi", "lang.languages=[de,fr]", "data=text", "data.path='novels/*.txt'"],
            r"novels/\*.txt: every language of lang=multi would read this text; write {lang} for the language's code",
        ),
        (["tokenizer.rules=penn"], "tokenizer.rules=penn: must be one of language, moses"),
        (["data.max_tokens=0"], "data.max_tokens=0: must be a whole number of at least 1, or null"),
        (["data=conllu"], "data=conllu needs data.path="),
        (["data=text", "data.path='/no/*.txt'"], r"/no/\*.txt: no file matches; give data.path="),
        (["data=text", "data.path=/tmp"], r"/tmp: is a folder; name the files in it, for instance data.path='/tmp/\*.txt'"),
        (["data.name=speech"], "data.name=speech: no such corpus; available: grammar, text"),
        (["tokenizer=sentencepiece", "tokenizer.kind=char"], "tokenizer.kind=char: must be one of unigram, bpe"),
    ],
)
def test_wrong_choices_are_told_the_remedy(tmp_path, overrides, message):
    with pytest.raises(UserError, match=message):
        prepare_corpus(settings(tmp_path, *overrides))


def test_challenge_sentences_are_left_out_of_ones_own_text(tmp_path):
    challenge = min(challenge_sentences(folder_of("de"), "joined").sentences(), key=lambda s: (len(s), s))
    prose = challenge[0].upper() + challenge[1:] + "."
    (tmp_path / "own.txt").write_text(f"{prose} Der Arzt ruft den Esel.\n" * 40, encoding="utf-8")
    chosen = ["data=text", f"data.path={tmp_path}/own.txt"]
    kept = prepare_corpus(settings(tmp_path, *chosen))
    left = prepare_corpus(settings(tmp_path, *chosen, "data.exclude_challenge=true"))
    assert left.report == {"challenge sentences": 40}
    assert sum(len(split) for split in kept.splits().values()) == 80
    assert sum(len(split) for split in left.splits().values()) == 40


def test_a_treebank_with_split_clitics_is_known_as_one(tmp_path):
    line = "1-2\tהילד" + "\t_" * 8 + "\n1\tה" + "\t_" * 8 + "\n2\tילד" + "\t_" * 8 + "\n\n"
    (tmp_path / "he.conllu").write_text(line * 30, encoding="utf-8")
    for words, clitics, known in (("surface", "joined", "הילד"), ("syntactic", "split", "ילד")):
        chosen = settings(tmp_path, "lang=he", "data=conllu", f"data.path={tmp_path}/he.conllu", f"data.words={words}")
        assert known in prepare_corpus(chosen).vocabulary
        assert chosen.facts()["clitics"] == clitics


def test_a_sample_of_ones_own_text(tmp_path):
    corpus = prepare(text(tmp_path), VocabularyRule(None), tmp_path / "cache", Selection(max_tokens=70, seed=1))
    whole = prepare(text(tmp_path), VocabularyRule(None), tmp_path / "cache", Selection(max_tokens=400, seed=1))
    small, large = (c.vocabulary.decode(np.asarray(c.train.ids).tolist()) for c in (corpus, whole))
    assert small == large[: len(small)]
    assert corpus.train.words == 70

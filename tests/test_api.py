"""`import concord`: what a notebook needs, by the same code as the commands."""

import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import concord
import numpy as np
import pandas as pd
import pytest
from concord.commands.evaluate import evaluate
from concord.errors import UserError
from concord.lm.checkpoints import load_model
from concord.probes.challenge_set import SetError
from concord.settings.evaluation_settings import read_evaluation_settings
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from pretrained_models import save

ROOT = Path(__file__).resolve().parents[1]
BEFORE = ROOT / "tests/fixtures/before"
GERMAN = BEFORE / "models/grammar-de.ckpt"
SENTENCE = "der Gast hinter den Bischöfen wartet ."


def evaluated(*overrides: str) -> None:
    """What `concord evaluate …` does, in this process."""
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        composed = compose("evaluate", list(overrides))
    evaluate(read_evaluation_settings(OmegaConf.to_container(composed, resolve=True)))


@pytest.fixture(scope="module")
def model() -> "concord.Model":
    return concord.load(GERMAN)


def test_importing_brings_nothing_heavy():
    code = "import concord, sys; print({'torch', 'numpy', 'pandas', 'hydra', 'yaml'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_what_is_offered_is_listed_and_nothing_else():
    assert set(concord.__all__) <= set(dir(concord))
    for name in concord.__all__:
        assert getattr(concord, name).__doc__
    with pytest.raises(AttributeError, match="has no attribute 'lod'; available: LightningWatch, Model"):
        concord.lod  # noqa: B018


def test_a_run_is_its_best_checkpoint():
    run = concord.load(BEFORE / "runs/lstm")
    assert run.name == "lstm/best"
    assert list(run.languages) == ["de"]
    assert len(run.vocabulary) == run.network.architecture.vocabulary_size
    with pytest.raises(UserError, match=r"neither checkpoints/best.ckpt nor last.ckpt is in this folder"):
        concord.load(BEFORE)


def test_words_are_scored_as_by_the_network_itself(model):
    network, vocabulary, _ = load_model(GERMAN)
    ids = vocabulary.encode(SENTENCE.split())
    import torch

    with torch.no_grad():
        logprobs, _ = network(torch.tensor([[0, *ids[:-1]]]))
    expected = logprobs[0, range(len(ids)), ids].numpy()
    (scored,) = model.score([SENTENCE])
    np.testing.assert_allclose(scored, expected, atol=1e-5)
    found = model.surprisal("der Gast hinter den Bischöfen wartet.")  # raw text is cut as its language is
    assert [word.word for word in found] == SENTENCE.split()
    np.testing.assert_allclose(found.bits, -expected / math.log(2), atol=1e-4)
    assert [word.pieces for word in found] == [(vocabulary.words[number],) for number in ids]
    assert found.total == pytest.approx(sum(found.bits))
    assert "Bischöfen" in repr(found)


def test_a_word_that_is_not_known_says_so(model):
    found = model.surprisal("der Zeppelin wartet .")
    assert [word.unknown for word in found] == [False, True, False, False]
    assert found[1].pieces == ("<unk>",)
    with pytest.raises(UserError, match="contains no words; write a sentence"):
        model.surprisal("  ")


def test_a_probe_gives_the_numbers_of_the_command(model, tmp_path):
    result = concord.probe(model, concord.sets("de", "prep", "simple_agrmt", limit=40))
    evaluated(f"ckpt_path={GERMAN}", "probes.constructions=[prep,simple_agrmt]", "probes.limit=40", f"out={tmp_path}/command")
    said = json.loads((tmp_path / "command/summary.json").read_text(encoding="utf-8"))
    result.save(tmp_path / "library")
    again = json.loads((tmp_path / "library/summary.json").read_text(encoding="utf-8"))
    assert again == said
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "command/items.parquet"), result.verdicts)
    assert list(result.table.index) == ["prep", "simple_agrmt"]
    assert result.table.loc["prep", "accuracy"] == result.accuracy["prep"]
    assert result.table.loc["prep", "n"] == len(result.verdicts.query("construction == 'prep' and covered"))
    assert result.contract == said["contract"]["statement"]


def test_suites_are_those_of_the_command(tmp_path):
    english = BEFORE / "models/grammar-en.ckpt"
    evaluated(f"ckpt_path={english}", "probes=suites", f"out={tmp_path}")
    found = concord.probe(concord.load(english), concord.sets("en", collection="suites"))
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "items.parquet"), found.verdicts)


def test_further_collections_of_one_name_do_not_replace_each_other(tmp_path):
    for noun in ("Gast", "Arzt"):
        file = tmp_path / f"{noun}.csv"
        file.write_text(f"good,bad\nder {noun} wartet .,der {noun} warten .\n", encoding="utf-8")
        also = f"probes.also=[{{collection: own, path: {file}}}]"
        evaluated(f"ckpt_path={GERMAN}", also, f"paths.results={tmp_path}/results")
    kept = sorted(folder.name[:-6] for folder in (tmp_path / "results").glob("*-own-*"))
    assert kept == ["models-grammar-de-de-own-", "models-grammar-de-de-own-"]
    assert (tmp_path / "results/models-grammar-de-de-agreement/items.parquet").exists()


def test_a_protocol_with_a_score_of_its_own_needs_a_model_that_has_it(tmp_path):
    bert = concord.pretrained(save("bert", tmp_path))
    some = concord.sets("en", "simple_agrmt", limit=8)
    with pytest.raises(UserError, match=r'and protocol=perez_mayos by left_to_right: concord.pretrained\(name, protocol="perez'):
        concord.probe(bert, some, "perez_mayos")
    again = concord.pretrained(tmp_path, protocol="perez_mayos")
    assert concord.probe(again, some, "perez_mayos").probe.contract.label == "perez_mayos"


def test_words_are_fitted_as_by_the_command(model, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("\n".join(model.vocabulary.words), encoding="utf-8")
    some = concord.sets("de", "prep", limit=40)
    for asked, typed in (("fit", "fit"), ([words], f"{{shared:[{words}]}}")):
        found = concord.probe(model, some, lexicon=asked)
        evaluated(
            f"ckpt_path={GERMAN}",
            "probes.constructions=[prep]",
            "probes.limit=40",
            f"probes.lexicon={typed}",
            f"out={tmp_path}/{found.probe.digest}",
        )
        pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / found.probe.digest / "items.parquet"), found.verdicts)
        assert "words chosen to fit the vocabulary" in found.contract
        assert found.probe.digest != concord.probe(model, some).probe.digest


def test_only_what_has_words_can_be_fitted(model, tmp_path):
    constant = concord.model(lambda sentences: [[-2.0] * len(text.split()) for text in sentences], name="constant")
    with pytest.raises(UserError, match=r'constant: lexicon="fit" works only for models trained by Concord'):
        concord.probe(constant, concord.sets("de", "prep", limit=4), lexicon="fit")
    with pytest.raises(UserError, match=r"lexicon='runs/a': must be fixed, fit, or a list of runs"):
        concord.probe(model, concord.sets("de", "prep", limit=4), lexicon="runs/a")
    (tmp_path / "set.csv").write_text("good,bad\nder Gast wartet .,der Gast warten .\n", encoding="utf-8")
    with pytest.raises(UserError, match="come with no lexicon to choose words from; leave it out"):
        concord.probe(model, concord.sets(tmp_path / "set.csv", language="de"), lexicon="fit")


def test_rules_are_changed_by_name(model):
    some = concord.sets("de", "simple_agrmt", limit=8)
    assert "a tie is wrong" in concord.probe(model, some, ties="wrong").contract
    assert concord.probe(model, some, "marvin_linzen").probe.contract.label == "marvin_linzen"
    with pytest.raises(UserError, match=r'concord.load\(path, start="warm"\)'):
        concord.probe(model, some, start="warm")
    with pytest.raises(UserError, match=r'concord.pretrained\(name, protocol="goldberg"\)'):
        concord.probe(model, some, "goldberg")
    with pytest.raises(UserError, match=": no such rule; available:"):
        concord.probe(model, some, tie="wrong")


def test_any_function_is_a_model():
    constant = concord.model(lambda sentences: [[-2.0] * len(text.split()) for text in sentences], name="constant")
    assert constant.score(["a b c"])[0].tolist() == [-2.0] * 3
    result = concord.probe(constant, concord.sets("fr", "prep", limit=20))
    assert result.accuracy == {"prep": 0.5, "mean": 0.5}
    assert constant.surprisal("a b").bits == pytest.approx([2 / math.log(2)] * 2)


def test_a_function_says_which_words_it_knows():
    some = concord.sets("de", "simple_agrmt", limit=20)
    words = {word for made in some.read.values() for sentence in made.sentences for word in sentence.split()} | {"."}
    good, bad = some["simple_agrmt"][0].variants
    (unknown,) = {*good.words} - {*bad.words}

    def shorter(sentences: list[str]) -> list[list[float]]:
        return [[-float(len(word)) for word in text.split()] for text in sentences]

    knows_all = concord.probe(concord.model(shorter, name="all", vocabulary=words), some)
    knows_less = concord.probe(concord.model(shorter, name="less", vocabulary=words - {unknown}), some)
    assert knows_all.table.loc["simple_agrmt", "uncovered"] == 0
    assert knows_less.table.loc["simple_agrmt", "uncovered"] > 0


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda sentences: [], "wrong: 1 sentences were requested, 0 were scored"),
        (lambda sentences: [[-1.0]], "wrong: 2 words, but 1 log-probabilities: 'a b'"),
        (lambda sentences: [[0.5, 0.1]], "wrong: 0.5 is not a log-probability"),
        (lambda sentences: [[-1.0, math.nan]], "not finite"),
    ],
)
def test_a_function_that_keeps_no_contract_is_told_so(function, message):
    with pytest.raises(UserError, match=message):
        concord.model(function, name="wrong").score(["a b"])


def test_sets_are_of_a_language_a_folder_or_a_file(tmp_path, monkeypatch):
    monkeypatch.setenv("CONCORD_OFFLINE", "1")
    german = concord.sets("de")
    assert "prep" in list(german)
    assert len(german["prep"]) == 12_800
    assert repr(concord.sets("de", "prep", limit=9)) == "Sets(agreement, de: prep 9)"
    table = tmp_path / "mine.tsv"
    table.write_text("good\tbad\nder Gast wartet .\tder Gast warten .\n", encoding="utf-8")
    mine = concord.sets(table, language="de")
    assert [len(made) for made in mine.read.values()] == [1]
    with pytest.raises(UserError, match="clams: 7 of 7 files are missing, and the network is switched off"):
        concord.sets("de", collection="clams")
    with pytest.raises(UserError, match=r"no such file or folder, and no such language \(ours:"):
        concord.sets(tmp_path / "nothing")


def test_results_and_runs_stand_on_one_page(model, tmp_path):
    result = concord.probe(model, concord.sets("de", "simple_agrmt", limit=20))
    page = concord.Report([BEFORE / "runs/lstm", result]).save(tmp_path / "pages/report.html")
    text = page.read_text(encoding="utf-8")
    assert page == tmp_path / "pages/report.html"
    assert model.name in text
    assert "lstm" in text


def test_two_functions_are_two_models_in_a_report(tmp_path):
    def short(sentences: list[str]) -> list[list[float]]:
        return [[-float(len(word)) for word in text.split()] for text in sentences]

    sets = concord.sets("de", "simple_agrmt", limit=8)
    named, unnamed = concord.model(short), [concord.model(lambda texts: short(texts[:])) for _ in range(2)]
    assert [each.name for each in (named, *unnamed)] == ["short", "function", "function"]
    results = [concord.probe(each, sets) for each in (named, *unnamed)]
    concord.Report(results[:2]).save(tmp_path / "report.html")
    with pytest.raises(UserError, match=r"two results of function on the same sets; .* name them: concord.model"):
        concord.Report(results).save(tmp_path / "report.html")


# ------------------------------------------------------------- text=@sentences.txt


@pytest.fixture
def sentences(tmp_path) -> Path:
    file = tmp_path / "sentences.txt"
    file.write_text(f"{SENTENCE}\n\nder Zeppelin wartet.\n", encoding="utf-8")
    return file


@pytest.mark.parametrize("suffix", ["tsv", "parquet"])
def test_a_file_of_sentences_gives_a_row_a_word_for_every_checkpoint(sentences, tmp_path, suffix):
    run, out = BEFORE / "runs/lstm", tmp_path / f"words.{suffix}"
    evaluated(f"ckpt_path={run}", f"text=@{sentences}", f"out={out}")
    frame = pd.read_parquet(out) if suffix == "parquet" else pd.read_csv(out, sep="\t")
    assert list(frame.columns) == ["model", "sentence", "place", "word", "bits", "pieces", "unknown"]
    assert sorted(set(frame.model)) == ["lstm/best", "lstm/last"]
    best = frame[frame.model == "lstm/best"].reset_index(drop=True)
    assert best.word.tolist() == [*SENTENCE.split(), *["der", "Zeppelin", "wartet", "."]]
    assert best.sentence.tolist() == [1] * 7 + [3] * 4  # lines of the file
    assert best.place.tolist() == [*range(1, 8), *range(1, 5)]
    pd.testing.assert_frame_equal(best, concord.surprisals(concord.load(run), sentences))
    assert best.bits[:7].tolist() == pytest.approx(concord.load(run).surprisal(SENTENCE).bits, abs=1e-4)


def test_wrong_files_are_found_before_a_model_is_loaded(tmp_path, sentences):
    for override, message in (
        (f"text=@{tmp_path}/none.txt", "none.txt: no such file; it must have one sentence per line"),
        (f"text=@{sentences}", r"out=.*words.json: word rows are written as .tsv or .parquet"),
    ):
        with pytest.raises(UserError, match=message):
            evaluated("ckpt_path=/nowhere.ckpt", override, f"out={tmp_path}/words.json" if "none" not in override else "out=null")


def test_the_columns_of_a_table_can_be_named(tmp_path):
    rows = [
        "kind,right,wrong",
        "short,she sleeps .,she sleep .",
        "short,he runs .,he run .",
        "long,she who runs is .,she who runs are .",
    ]
    (tmp_path / "pairs.csv").write_text("\n".join(rows), encoding="utf-8")
    with pytest.raises(SetError, match="which columns hold the sentences"):
        concord.sets(tmp_path / "pairs.csv", language="en", format="table")
    named = {"good": "right", "bad": "wrong", "construction": "kind"}
    sets = concord.sets(tmp_path / "pairs.csv", language="en", columns=named)
    assert {name: len(made) for name, made in sets.read.items()} == {"short": 2, "long": 1}
    likes_s = concord.model(lambda sentences: [[float(word.endswith("s")) - 1 for word in line.split()] for line in sentences])
    assert concord.probe(likes_s, sets).accuracy == {"short": 1.0, "long": 1.0, "mean": 1.0}


def test_a_contract_is_never_said_of_a_model_that_begins_otherwise(tmp_path):
    """start=warm is known of models of ours, and is one for all collections that are asked together."""
    rules = "probes.rules.start=warm"
    limited = [f"ckpt_path={GERMAN}", "probes.limit=4", "probes.constructions=[prep]", f"out={tmp_path}"]
    again = "probes.also=[{collection: agreement, name: again, limit: 4, rules: {start: zero}}]"
    with pytest.raises(UserError, match="again: probes.rules.start=zero, but .* starts its sentences with start=warm; evaluate"):
        evaluated(*limited, rules, again)
    save("gpt2", tmp_path / "gpt2")
    with pytest.raises(
        UserError,
        match=r"gpt2/causal\(bos\): probes.rules.start=warm: only Concord models come with",
    ):
        evaluated("model=hf", f"model.name={tmp_path}/gpt2", "lang=de", "probes.limit=4", rules)
    assert not list(tmp_path.rglob("*.parquet"))  # told before any work


def test_models_of_the_same_name_do_not_replace_each_others_results(tmp_path):
    asked = ["model=hf", "lang=de", "probes.limit=4", "probes.constructions=[prep]", f"paths.results={tmp_path}/results"]
    for seed, owner in enumerate(("a", "b", "a")):
        save("gpt2", tmp_path / owner / "gpt2", seed=seed % 2)
        evaluated(*asked, f"model.name={tmp_path}/{owner}/gpt2")
    assert len(list((tmp_path / "results").iterdir())) == 2
    for owner in ("a", "b"):
        (tmp_path / owner / "x").mkdir()
        (tmp_path / owner / "x/best.ckpt").write_bytes(GERMAN.read_bytes())
    with pytest.raises(UserError, match=r"ckpt_path: two models are called x/best; evaluate them one by one"):
        evaluated(f"ckpt_path=[{tmp_path}/a/x/best.ckpt,{tmp_path}/b/x/best.ckpt]", "probes.limit=4")


def test_runs_of_the_same_name_do_not_replace_each_others_results(tmp_path):
    """Two folders, one name: the model of other settings gets results and a curve of its own, and a second look replaces both."""
    asked = ["lang=de", "probes.limit=4", "probes.constructions=[prep]", f"paths.results={tmp_path}/results"]
    for owner, kind in (("a", "lstm"), ("b", "transformer")):
        shutil.copytree(BEFORE / "runs" / kind / "checkpoints", tmp_path / owner / "x/checkpoints")
    for owner in ("a", "b", "a", "b"):
        evaluated(*asked, f"ckpt_path={tmp_path}/{owner}/x")
    kinds = {}
    for folder in (tmp_path / "results").iterdir():
        file = next(iter(folder.glob("summary.json")), folder / "curve.json")
        kinds.setdefault(file.name, []).append(json.loads(file.read_text(encoding="utf-8")))
    assert {name: len(found) for name, found in kinds.items()} == {"summary.json": 2, "curve.json": 2}
    assert len({found["settings"] for found in kinds["curve.json"]}) == 2

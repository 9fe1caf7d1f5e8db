"""The BabyLM kit: its schedule of words, and a tiny run with that schedule divided by a thousand."""

import json

import pytest
from concord.commands.export import main as export_command
from concord.data.grammar import folder_of
from concord.probes.readers.grammar import expand_grammar
from concord.settings.checkpoint_names import BABYLM, checkpoint_name
from pyarrow import parquet
from training_runs import settings, train

SMALL = ["model.embedding=16", "model.network={layers: 1, heads: 2, feedforward: 32}", "tokenizer.vocabulary_size=400"]
SMALL += ["data.batch_tokens=300", "logger=none", "trainer.threads=1", "data.workers=1", "callbacks.checkpoints.every_n_steps=0"]


def test_the_preset_has_the_schedule_of_the_challenge():
    chosen = settings("experiment=babylm", "data.path=a.txt")
    millions = [*range(1, 10), *range(10, 100, 10), *range(100, 1001, 100)]
    assert [words // 10**6 for words in BABYLM] == millions
    assert chosen.callbacks.checkpoints.at_words == tuple(chosen.probes.schedule.words) == BABYLM
    assert [checkpoint_name(words) for words in BABYLM] == [f"chck_{n}M" for n in millions]
    assert chosen.probes.protocol == "babylm"
    assert chosen.trainer.max_epochs == 10
    fewer = settings("experiment=babylm", "data.path=a.txt", "callbacks.checkpoints.at_words=[500]")
    assert list(fewer.probes.schedule.words) == [500]  # the probes follow the checkpoints


@pytest.mark.slow
def test_a_tiny_run_leaves_folders_predictions_and_cards(tmp_path, capsys):
    sentences = list(
        dict.fromkeys(s for name in ("simple_agrmt", "prep") for s in expand_grammar(folder_of("en"), name, "en").sentences)
    )
    text = " ".join(f"{each[0].upper()}{each[1:]}." for each in sentences[:: len(sentences) // 450])
    (tmp_path / "text.txt").write_text(text, encoding="utf-8")
    divided = [words // 1000 for words in BABYLM]
    asked = ["experiment=babylm", f"data.path={tmp_path}/text.txt", f"callbacks.checkpoints.at_words={divided}", *SMALL]
    train(tmp_path, *asked, "name=kit", "probes.constructions=[simple_agrmt,prep]", "probes.limit=12", "probes.lexicon=fixed")
    run = tmp_path / "runs/kit"
    seen = json.loads((run / "DONE").read_text(encoding="utf-8"))["words seen"]
    reached = [words for words in divided if words <= seen]
    assert len(reached) > 9
    assert export_command([f"ckpt_path={run}", f"out={tmp_path}/kit"]) == 0
    said = capsys.readouterr().out
    names = ["main", *(checkpoint_name(words) for words in reached)]
    assert sorted(each.name for each in (tmp_path / "kit").iterdir()) == sorted(names)
    for words, name in zip(reached, names[1:], strict=True):
        assert f"hf upload OWNER/NAME {tmp_path}/kit/{name} . --revision {name}" in said
        card = (tmp_path / "kit" / name / "README.md").read_text(encoding="utf-8")
        after = int(card.split("After ")[1].split(" words of training.")[0].replace(",", ""))
        assert words <= after < words + 300  # at most the words of a batch later
        assert (
            "Accuracy on the sample of the sets that is probed during training.\n" in card
        )  # probed at this moment, and not before it
    final = run / "probes/final-en-agreement"
    found = json.loads((final / "predictions.json").read_text(encoding="utf-8"))
    assert sorted(found) == ["prep", "simple_agrmt"]
    items = parquet.read_table(final / "items.parquet").to_pylist()
    expected = [" ".join(row["good" if row["verdict"] == 1 else "bad"]) for row in items if row["construction"] == "prep"]
    assert [each["pred"] for each in found["prep"]["predictions"]] == expected
    assert [each["id"] for each in found["prep"]["predictions"]] == [f"prep_{number}" for number in range(12)]

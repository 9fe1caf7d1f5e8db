"""Wikipedia from files in the shape of the real set, through the whole pipeline."""

import gzip
import json
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import yaml
from concord.data.corpora import CorpusRecipe, Downloads
from concord.data.corpus import Corpus
from concord.data.text import TextError
from concord.data.wikipedia import HubArticles, LocalArticles
from concord.errors import UserError
from concord.settings.corpus_settings import read_corpus_settings
from concord.settings.languages import read_language_choice
from concord.settings.reading import read
from concord.settings.training_settings import WordTokenizer
from pyarrow import parquet

ROOT = Path(__file__).resolve().parents[2]
DE = yaml.safe_load((ROOT / "conf/lang/de.yaml").read_text(encoding="utf-8"))
TOKENIZER = yaml.safe_load((ROOT / "conf/tokenizer/word.yaml").read_text(encoding="utf-8"))
SETTINGS = yaml.safe_load((ROOT / "conf/data/wikipedia.yaml").read_text(encoding="utf-8"))
NOUNS = "Hund Esel Bischof Gast Arzt Maler Bäcker Lehrer Vogel Fisch".split()  # noqa: SIM905
VERBS = "sieht hört jagt liebt kennt ruft".split()  # noqa: SIM905


def article(number: int) -> str:
    """A heading, two paragraphs, a list, and now and then a sentence of rare words."""
    rng = np.random.RandomState(number)

    def sentence() -> str:
        return f"Der {rng.choice(NOUNS)} {rng.choice(VERBS)} den {rng.choice(NOUNS)}."

    rare = f"Im Jahr {1000 + number} kam Xaver{number} nach Stadt{number}." if number % 5 == 0 else sentence()
    return f"{sentence()} {sentence()}\n\nGeschichte\n{sentence()} {rare}\n- eins\n- zwei\n\nWeblinks"


def rows(first: int, count: int) -> pa.Table:
    numbers = range(first, first + count)
    columns = {name: [f"{name}{n}" for n in numbers] for name in ("id", "url", "title")}
    return pa.table({**columns, "text": [article(n) for n in numbers]})


@pytest.fixture(scope="module")
def dump(tmp_path_factory) -> Path:
    """Folders and files as on the hub: <dump>.<language>/train-….parquet and a card that lists them."""
    folder = tmp_path_factory.mktemp("wikipedia")
    (folder / "20231101.de").mkdir()
    for shard in range(2):
        file = folder / f"20231101.de/train-{shard:05}-of-00002.parquet"
        parquet.write_table(rows(100 * shard, 100), file)
    listed = [{"config_name": "20231101.de", "data_files": [{"split": "train", "path": "20231101.de/*"}]}]
    (folder / "README.md").write_text(f"---\n{yaml.safe_dump({'configs': listed})}---\n", encoding="utf-8")
    return folder


def made(tmp_path: Path, rules: str = "language", **changes) -> Corpus:
    data = SETTINGS | {"frequent": 25, "tokens": None} | changes
    tokenizer = TOKENIZER | {"counted_in": data["counted_in"], "rules": rules}
    recipe = CorpusRecipe(
        read_corpus_settings(data),
        [read_language_choice(DE)],
        read(WordTokenizer, tokenizer, "tokenizer"),
        Downloads(tmp_path, allowed=False),
    )
    return recipe.prepare(tmp_path / "cache")


def text_of(corpus: Corpus) -> list[str]:
    words = [word for split in corpus.splits().values() for word in corpus.vocabulary.decode(np.asarray(split.ids).tolist())]
    return " ".join(words).removesuffix(" <eos>").split(" <eos> ")


def test_a_folder_of_parquet_goes_through_the_whole_pipeline(tmp_path, dump):
    corpus = made(tmp_path, path=str(dump / "20231101.de"))
    assert corpus.read == {"documents": 200, "sentences": 800, "words": corpus.read["words"], "types in train and valid": 19}
    assert corpus.report == {
        "lines that do not end a sentence (headings, lists)": 800,
        "sentences with more than 5% unknown words": 40,
    }
    found = text_of(corpus)
    assert len(found) == 760
    assert all(sentence.startswith("Der ") and sentence.endswith(" .") for sentence in found)
    words = {name: split.words for name, split in corpus.splits().items()}
    assert words == {"train": 3648, "valid": 456, "test": 456}
    assert json.loads((corpus.folder / "about.json").read_text())["report"] == corpus.report


@pytest.mark.slow
def test_the_hubs_way_reads_the_same_sentences(tmp_path, dump, monkeypatch):
    """The very call that streams from the hub, with a folder in place of its name."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    streamed = made(tmp_path, dataset=str(dump))
    files = made(tmp_path, path=str(dump / "20231101.de"))
    assert sorted(text_of(streamed)) == sorted(text_of(files))
    assert streamed.read == files.read
    other = made(tmp_path, dataset=str(dump), seed=1)
    assert sorted(text_of(other)) == sorted(text_of(files))
    assert text_of(other) != text_of(streamed)


def test_splits_by_words_and_nested_samples(tmp_path, dump):
    path = str(dump / "20231101.de")
    sizes = {"train": 1200, "valid": 120, "test": 120}
    whole, half = (made(tmp_path, path=path, tokens=sizes, max_tokens=limit) for limit in (None, 600))
    assert {name: split.words for name, split in whole.splits().items()} == sizes
    assert half.train.words == 600
    assert half.report["sentences beyond the size asked for"] == 760 - (600 + 240) // 6
    beginning = whole.vocabulary.decode(np.asarray(whole.train.ids).tolist())[: half.train.tokens]
    assert half.vocabulary.decode(np.asarray(half.train.ids).tolist()) == beginning
    for name in ("valid", "test"):
        one, two = (text.vocabulary.decode(np.asarray(text.splits()[name].ids).tolist()) for text in (whole, half))
        assert one == two


def test_json_lines_and_plain_text_are_read_too(tmp_path, dump):
    folder = tmp_path / "files"
    folder.mkdir()
    with gzip.open(folder / "a.jsonl.gz", "wt", encoding="utf-8") as stream:
        stream.writelines(json.dumps({"id": n, "text": article(n)}) + "\n" for n in range(100))
    (folder / "b.txt").write_text("\n\n".join(article(n).replace("\n\n", "\n") for n in range(100, 200)), encoding="utf-8")
    assert sorted(text_of(made(tmp_path, path=str(folder)))) == sorted(text_of(made(tmp_path, path=str(dump / "20231101.de"))))


def test_moses_tokens_are_those_of_sacremoses(tmp_path, dump):
    corpus = made(tmp_path, rules="moses", path=str(dump / "20231101.de"))
    assert len(text_of(corpus)) == 760
    assert "moses:" in json.loads((corpus.folder / "about.json").read_text())["source"]


def test_reading_stops_when_enough_words_have_been_read(tmp_path):
    (tmp_path / "many.txt").write_text((article(1) + "\n\n") * 20_000, encoding="utf-8")
    few = made(tmp_path, path=str(tmp_path / "many.txt"), read=10_000)
    assert 10_000 <= few.read["words"] < 250_000


def test_half_a_surrogate_pair_does_no_harm(tmp_path):
    line = json.dumps({"text": "Der Hund \ud800 sieht den Esel."})
    (tmp_path / "a.jsonl").write_text("\n".join([line] * 20), encoding="utf-8")
    assert next(iter(LocalArticles([tmp_path / "a.jsonl"]))) == "Der Hund � sieht den Esel."
    assert "�" in made(tmp_path, path=str(tmp_path / "a.jsonl")).vocabulary


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", b'{"title": "x"}\n', "a.jsonl:1: every line must be a JSON object with a field 'text'"),
        ("a.jsonl", b"text\n", "a.jsonl:1: every line must be a JSON object"),
        ("a.parquet", b"PAR1 not really", "a.parquet: cannot be read as Parquet"),
    ],
)
def test_files_that_are_something_else_are_told_so(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TextError, match=message):
        list(LocalArticles([tmp_path / name]))


def test_a_damaged_parquet_file_gives_articles_or_one_line(tmp_path):
    texts = [f"Der Gast Nummer {i} lacht." for i in range(40)]
    parquet.write_table(pa.table({"title": list(map(str, range(40))), "text": texts}), tmp_path / "a.parquet")
    intact = (tmp_path / "a.parquet").read_bytes()
    draw, refused = random.Random(0), 0
    for _ in range(300):
        damaged = bytearray(intact)
        for _ in range(draw.choice([1, 8])):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        (tmp_path / "b.parquet").write_bytes(damaged[: draw.choice([None, draw.randrange(len(damaged))])])
        try:
            list(LocalArticles([tmp_path / "b.parquet"]))
        except TextError as error:
            assert "\n" not in str(error)
            refused += 1
    assert refused > 100


def test_a_parquet_file_of_something_else_is_told_so(tmp_path):
    parquet.write_table(pa.table({"body": ["x"]}), tmp_path / "a.parquet")
    with pytest.raises(TextError, match="a.parquet: has no column 'text'"):
        list(LocalArticles([tmp_path / "a.parquet"]))


def test_the_offline_switch_and_a_missing_set_say_what_to_do(tmp_path, dump, monkeypatch):
    with pytest.raises(UserError, match="not read because the network is switched off; give files with data.path="):
        next(iter(HubArticles("wikimedia/wikipedia", "20231101.de", 0, offline=True)))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    with pytest.raises(UserError, match="20231101.xx: cannot be read .* data.path="):
        next(iter(HubArticles(str(dump), "20231101.xx", 0)))

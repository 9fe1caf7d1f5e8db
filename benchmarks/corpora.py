"""Real prose to token ids: `python benchmarks/corpora.py FOLDER [de fr …] [--times 16]`, or `--small`.

FOLDER holds `<lang>.txt.xz`, one paragraph per line. Every corpus is prepared in its own process, with 50,000 words counted in
train and valid, on all cores. Memory is the peak of the preparing process and of its largest worker. For 4 × (or another
number) the text is repeated that many times, and in the copies every word of more than six letters is replaced by a new one, so
that new words keep appearing as they do in a larger text. Covered: our challenge items all of whose words are in the vocabulary.
With --small the text is a few sentences of the built-in corpus.
"""

import argparse
import itertools
import lzma
import multiprocessing
import re
import resource
import string
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import yaml
from concord.data.corpora import CorpusRecipe, Downloads
from concord.data.corpus import Corpus
from concord.data.grammar import Draw, constructions, folder_of, languages, load
from concord.machine import cores
from concord.probes.readers.grammar import expand_grammar
from concord.settings.corpus_settings import read_corpus_settings
from concord.settings.languages import read_language_choice
from concord.settings.reading import read
from concord.settings.training_settings import WordTokenizer
from concord.terminal import console, table

CONF = Path(__file__).resolve().parents[1] / "conf"
TYPES = "types in train and valid"
LONG = re.compile(r"\w{7,}")


def settings(group: str, name: str) -> dict:
    return yaml.safe_load((CONF / group / f"{name}.yaml").read_text(encoding="utf-8"))


def prepared(lang: str, file: Path, cache: Path) -> Corpus:
    known, data = settings("lang", lang), settings("data", "text") | {"path": str(file)}
    tokenizer = settings("tokenizer", "word") | {"counted_in": ["train", "valid"]}
    recipe = CorpusRecipe(
        read_corpus_settings(data),
        [read_language_choice(known)],
        read(WordTokenizer, tokenizer, "tokenizer"),
        Downloads(cache, allowed=False),
    )
    return recipe.prepare(cache)


def measure(lang: str, file: Path, cache: Path) -> tuple[float, float, float, float]:
    start = time.perf_counter()
    prepared(lang, file, cache)
    seconds = time.perf_counter() - start
    again = time.perf_counter()
    prepared(lang, file, cache)
    # Not our own ru_maxrss, which starts at the peak of the parent process.
    own = int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text(encoding="utf-8"))[1]) / 1024
    worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return seconds, time.perf_counter() - again, own, worker


def measured(lang: str, file: Path, cache: Path) -> tuple[float, float, float, float]:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as one:
        return one.submit(measure, lang, file, cache).result()


def coverage(lang: str, corpus: Corpus) -> tuple[float, float]:
    """Coverage of the words in our challenge sets, and of their items."""
    words: set[str] = set()
    covered = items = 0
    for name in constructions(folder_of(lang)):
        made = expand_grammar(folder_of(lang), name, lang, "joined")
        for index in range(len(made)):
            here = {word for sentence in made.sentences[made.firsts[index] : made.firsts[index + 1]] for word in sentence.split()}
            words |= here
            covered += all(word in corpus.vocabulary for word in here)
        items += len(made)
    return sum(word in corpus.vocabulary for word in words) / len(words), covered / items


def repeated(file: Path, target: Path, times: int) -> Path:
    text = lzma.decompress(file.read_bytes()).decode("utf-8")
    with target.open("w", encoding="utf-8") as stream:
        for copy in ("", *string.ascii_lowercase)[:times]:
            stream.write(LONG.sub(lambda found, copy=copy: found[0] + 2 * copy, text))
    return target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("languages", nargs="*")
    parser.add_argument("--times", type=int, default=4, choices=range(2, 27), metavar="N")
    parser.add_argument("--small", action="store_true", help="takes seconds: a smoke test")
    asked = parser.parse_args()
    if not (asked.folder or asked.small):
        parser.error("give a FOLDER with <lang>.txt.xz, or --small")
    with tempfile.TemporaryDirectory() as made:
        compare(asked.folder or prose(Path(made)), asked.languages or (["de"] if asked.small else languages()), asked.times)


def prose(folder: Path) -> Path:
    """Sentences of the German corpus, one paragraph per line."""
    drawn = list(itertools.islice(Draw(load(folder_of("de"), "corpus"), seed=0), 300))
    (folder / "de.txt.xz").write_bytes(lzma.compress("\n".join(drawn).encode()))
    return folder


def compare(folder: Path, chosen: Sequence[str], times: int) -> None:
    more = f"{times} ×"
    columns = ["sentences", "words", "types", "unknown", "words covered", "items covered", "MB", "s", "MB/s", "from cache s"]
    sizes = table(f"corpora with 50,000 words, {len(cores())} cores", "lang", numbers=columns)
    memory = table("peak MB", "lang", numbers=["1 ×", "a worker", more, "a worker ", f"{more}: MB", "types", "MB/s"])
    for lang in chosen:
        with tempfile.TemporaryDirectory() as work:
            cache = Path(work) / "cache"
            plain = Path(work) / f"{lang}.txt"
            plain.write_bytes(lzma.decompress((folder / f"{lang}.txt.xz").read_bytes()))
            megabytes = plain.stat().st_size / 1e6
            seconds, again, own, worker = measured(lang, plain, cache)
            corpus = prepared(lang, plain, cache)
            words, items = coverage(lang, corpus)
            unknown = sum(s.unknown for s in corpus.splits().values()) / sum(s.words for s in corpus.splits().values())
            numbers = (f"{corpus.read[name]:,}" for name in ("sentences", "words", TYPES))
            speed = (f"{megabytes:.0f}", f"{seconds:.1f}", f"{megabytes / seconds:.1f}", f"{again:.2f}")
            sizes.add_row(lang, *numbers, f"{unknown:.2%}", f"{words:.1%}", f"{items:.1%}", *speed)
            large = repeated(folder / f"{lang}.txt.xz", Path(work) / "large.txt", times)
            taken, _, most, most_worker = measured(lang, large, cache)
            types = prepared(lang, large, cache).read[TYPES]
            peaks = (f"{peak:.0f}" for peak in (own, worker, most, most_worker))
            size = large.stat().st_size / 1e6
            memory.add_row(lang, *peaks, f"{size:.0f}", f"{types:,}", f"{size / taken:.1f}")
    console.width = 160
    console.print(sizes)
    console.print(memory)


if __name__ == "__main__":
    main()

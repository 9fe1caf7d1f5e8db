"""Speed and memory of the grammar engine: `python benchmarks/grammar.py [--small]`. Every figure is the best of three.

The rival reimplements the published generator's method: whole lists of sentences, no metadata. Both expand the same
grammars in the same run. Memory is the peak of a separate process.
"""

import argparse
import itertools
import multiprocessing
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from concord.data.grammar import Draw, Expansion, Grammar, build, constructions, folder_of, languages, load, parse
from concord.data.grammar.frames import frames, lexemes
from concord.data.grammar.unroll import unroll
from concord.data.grammar.variation import Variation
from rich.console import Console
from rich.table import Table

PUBLISHED = Path(__file__).resolve().parents[2] / "shared/reference/clams_fr/grammars"


@dataclass(frozen=True)
class Size:
    folders: list[Path]
    repeats: int
    drawn: int  # sentences of a corpus
    words: int  # words in each of three slots: the product has this number cubed sentences


def seconds(work: Callable[[], object], repeats: int) -> float:
    """The fastest of several runs: slower ones were disturbed."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def listed(grammar: Grammar) -> list[tuple[bool, str]]:
    """Lists throughout: every template's sentences in memory, flags only."""
    result: list[tuple[bool, str]] = []
    for frame in frames(unroll(grammar)):
        variation = Variation(grammar, frame, lexemes(grammar, frame))
        strings: list[tuple[bool, str]] = [(True, "")]
        for index, slot in enumerate(frame.slots):
            if index in variation.slots:
                forms = [(not v.change, v.forms[0]) for versions, *_ in variation.settings() for v in versions]
                strings = [(flag and good, f"{text} {form}") for flag, text in strings for good, form in forms]
            else:
                strings = [(flag, f"{text} {form}") for form in slot.forms for flag, text in strings]
        result += [(flag, text.strip()) for flag, text in strings]
    return result


def product_grammar(size: int) -> Grammar:
    words = " | ".join(f"word{i}" for i in range(size))
    return build("product", "product", parse("S[] A[] B[] C[]\n" + "\n".join(f"{x}[] {words}" for x in "ABC"), "product"))


def stream_product(size: int) -> None:
    assert sum(1 for _ in Expansion(product_grammar(size))) == size**3


def list_product(size: int) -> None:
    assert len(listed(product_grammar(size))) == size**3


def _peak(work: Callable[[], None], queue: "multiprocessing.Queue[tuple[float, float]]") -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    work()
    took = time.perf_counter() - start
    queue.put((took, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024))


def peak(work: Callable[[], None]) -> tuple[float, float]:
    """Seconds, and megabytes above an idle process with the program loaded."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=_peak, args=(work, queue))
    process.start()
    result = queue.get()
    process.join()
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="takes seconds: a smoke test")
    everything = [folder_of(lang) for lang in languages()] + ([PUBLISHED] if PUBLISHED.is_dir() else [])
    size = Size([folder_of("de")], 1, 1000, 16) if parser.parse_args().small else Size(everything, 3, 100_000, 128)
    console = Console(highlight=False)
    console.print(expansion(size))
    console.print(sampling(size))
    console.print(product(size))


def expansion(size: Size) -> Table:
    view = Table("grammars", "sentences", "ours, all metadata /s", "lists, flags only /s", "ratio", title="expansion")
    for folder in size.folders:
        grammars = [load(folder, name) for name in constructions(folder)]
        n = sum(len(group.sentences) for g in grammars for group in Expansion(g))
        ours = n / seconds(lambda grammars=grammars: [sum(1 for _ in Expansion(g)) for g in grammars], size.repeats)
        rival = n / seconds(lambda grammars=grammars: [len(listed(g)) for g in grammars], size.repeats)
        name = folder.name if folder != PUBLISHED else "published fr"
        view.add_row(name, f"{n:,}", f"{ours:,.0f}", f"{rival:,.0f}", f"{ours / rival:.2f}")
    return view


def sampling(size: Size) -> Table:
    view = Table("language", "sentences per second, one core", title=f"sampling {size.drawn:,} corpus sentences")
    for folder in size.folders:
        if folder != PUBLISHED:
            corpus = load(folder, "corpus")
            took = seconds(lambda corpus=corpus: sum(1 for _ in itertools.islice(Draw(corpus, seed=0), size.drawn)), size.repeats)
            view.add_row(folder.name, f"{size.drawn / took:,.0f}")
    return view


def product(size: Size) -> Table:
    view = Table("way", "seconds", "peak memory, MB", title=f"a product of {size.words**3:,} sentences")
    for name, work in (("ours, streamed, all metadata", stream_product), ("lists, flags only", list_product)):
        took, memory = peak(partial(work, size.words))
        view.add_row(name, f"{took:.2f}", f"{memory:.1f}")
    return view


if __name__ == "__main__":
    main()

"""Speed and memory of extraction: `python benchmarks/treebanks.py [FILES]`; memory must not grow with the size of the file."""

import argparse
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

from concord.data.patterns import find_pattern
from concord.places import installed_folder
from concord.probes.treebanks.controls import Controls
from concord.probes.treebanks.extraction import Extraction
from concord.probes.treebanks.set_writer import write_sets


def extract(files: list[Path], pattern: str, language: str, kinds: list[str]) -> tuple[int, int, float, float]:
    """Sentences, items, seconds, peak memory in MB; memory is measured separately, since that slows the work down."""

    def work() -> tuple[int, int]:
        with tempfile.TemporaryDirectory() as folder:
            extraction = Extraction(find_pattern(pattern, language), files)
            controls = Controls(extraction.pattern, extraction.sources, None, kinds)
            for _ in controls.harvest(extraction.trees()):
                pass
            return extraction.sentences, write_sets(extraction, controls, language, Path(folder)).counts["original"]

    begin = time.perf_counter()
    sentences, items = work()
    seconds = time.perf_counter() - begin
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return sentences, items, seconds, peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--pattern", default="fr/obj_participle")
    parser.add_argument("--lang", default="fr")
    parser.add_argument("--small", action="store_true")
    asked = parser.parse_args()
    files = asked.files or [installed_folder("patterns") / "fr" / "sample.conllu"]
    for times in (1, 2) if asked.small else (1, 4, 16):
        for kinds in ([], ["permuted", "nonce", "mirror"]):
            sentences, items, seconds, peak = extract(files * times, asked.pattern, asked.lang, kinds)
            what = "with controls" if kinds else "items alone"
            print(
                f"{sentences:>9,} sentences  {items:>6,} items  {sentences / seconds:>8,.0f} sentences/s  {peak:>7.1f} MB  {what}"
            )


if __name__ == "__main__":
    sys.exit(main())

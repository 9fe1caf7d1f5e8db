"""How long until all challenge sets of a language are ready: `python benchmarks/sets.py [--small]`. Best of three.

Cold: read from grammars or published files and put into the cache. Warm: read from the cache. The published French sets are
measured if they are available.
"""

import argparse
import shutil
import tempfile
import time
from pathlib import Path

from concord.data.grammar import folder_of, languages
from concord.probes.collection import ItemSelection, collect
from concord.terminal import console, table

PUBLISHED = Path(__file__).resolve().parents[2] / "shared/reference/clams_fr/evalset"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="takes seconds: a smoke test")
    small = parser.parse_args().small
    repeats = 1 if small else 3
    view = table(f"ready to score, seconds, best of {repeats}", "sets", numbers=["items", "cold", "from the cache", "ratio"])
    sources = [(f"ours, {lang}", folder_of(lang), lang, "grammar") for lang in (["de"] if small else languages())]
    if PUBLISHED.is_dir() and not small:
        sources.append(("published, fr", PUBLISHED, "fr", "clams"))
    for name, path, lang, form in sources:
        cold, warm, items = [], [], 0
        for _ in range(repeats):
            cache = Path(tempfile.mkdtemp())
            for times in (cold, warm):
                start = time.perf_counter()
                items = sum(len(each.challenge_set) for each in collect(path, lang, form, cache, ItemSelection()))
                times.append(time.perf_counter() - start)
            shutil.rmtree(cache)
        view.add_row(name, f"{items:,}", f"{min(cold):.2f}", f"{min(warm):.2f}", f"{min(cold) / min(warm):.1f}")
    console.print(view)


if __name__ == "__main__":
    main()

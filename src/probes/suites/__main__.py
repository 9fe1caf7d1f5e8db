"""`python -m concord.probes.suites FOLDER …`: compiles pages, reads JSON and CSV, and reports what an author should review."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ...errors import UserError
from .chance import chance_of
from .checks import collection_notes, notes
from .region_sentence import sentence_of
from .suite import Suite
from .suite_files import files_of, read


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m concord.probes.suites", description="Check suites: .suite pages, JSON, CSV.")
    parser.add_argument("paths", nargs="+", type=Path, help="files, or folders of them")
    parser.add_argument("--show", type=int, default=1, metavar="N", help="items to show per suite (0: all)")
    parser.add_argument("--lang", default="", help="language of suites that do not declare one")
    chosen = parser.parse_args(arguments)
    failed, suites = 0, []
    for file in files_of(chosen.paths):
        try:
            suite = read(file)
            suites.append(suite)
            show(suite, suite.language or chosen.lang, chosen.show or len(suite.items))
        except UserError as error:
            failed += 1
            print(f"ERROR {error}\n")
    print("\n".join(f"NOTE {note}" for note in collection_notes(suites)))
    return 1 if failed else 0


def show(suite: Suite, language: str, items: int) -> None:
    """A suite's figures, its first sentences region by region, and the notes of the checks."""
    chance = chance_of(suite)
    print(f"{suite.file}: {suite.name}, {len(suite.items)} items x {len(suite.conditions)} conditions, {suite.item_rule}")
    for prediction, share in zip(suite.predictions, chance.each, strict=True):
        print(f"  prediction {prediction.name}: {prediction.formula}   chance {share:.3f}")
    print(f"  chance of all predictions {chance.all:.3f}")
    for item in suite.items[:items]:
        for condition in item.conditions:
            sentence = sentence_of(suite, item, condition, language)
            cells = " | ".join(sentence.text[span.start : span.end] for span in sentence.regions)
            print(f"  {item.number:>3} {condition.name:<20} {sentence.text}\n      {'':<20} [{cells}]")
    for note in notes(suite, language):
        print(f"  NOTE {note}")
    print()


if __name__ == "__main__":
    sys.exit(main())

"""Check the word forms of all grammars: `python -m benchmarks.lexicons [LANGUAGE …] [--small]`.

Set up once:
    python3 -m venv .venv-lexicons && .venv-lexicons/bin/pip install -r benchmarks/lexicons/requirements.txt
    .venv-lexicons/bin/pip install --no-deps german-nouns==1.2.5 -e .
    apt-get install hspell hunspell hunspell-fr lttoolbox apertium-eng-spa
    .venv-lexicons/bin/python -m benchmarks.lexicons

With --small only a few forms are checked; if a lexicon is missing, only that the program still has what the check imports.
"""

import argparse
import ast
import importlib
import itertools
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from concord.data.grammar import languages
from concord.terminal import console, table

from benchmarks.lexicons import wide

FEW = 40
Checked = tuple[str, bool, str]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lexicons", description="Word forms against lexicons.")
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help="all if none is named")
    parser.add_argument("--small", action="store_true", help="takes seconds: a smoke test")
    asked = parser.parse_args()
    view = table("word forms against lexicons", "language", numbers=["checked", "differ", "explained", "open"])
    still_open = 0
    for language in asked.languages or languages():
        counts: Counter[str] = Counter()
        for what, agrees, note in few_forms(language) if asked.small else forms(language):
            outcome = "agree" if agrees else "explained" if "explained: " in note else "open"
            counts[outcome] += 1
            if outcome == "open":
                print(f"{language}: {what}: {note}")
        still_open += counts["open"]
        differ = counts["explained"] + counts["open"]
        view.add_row(language, *(f"{n:,}" for n in (counts.total(), differ, counts["explained"], counts["open"])))
    console.print(view)
    return int(still_open > 0)


def forms(language: str) -> Iterator[Checked]:
    """What was checked, whether the lexicon agrees, and a note."""
    yield from importlib.import_module(f"benchmarks.lexicons.{language}").forms()
    yield from wide.forms(language)


def few_forms(language: str) -> list[Checked]:
    """The first few, if the lexicon is installed."""
    try:
        return list(itertools.islice(forms(language), FEW))
    except (ImportError, FileNotFoundError) as error:  # a package, or a program
        must_be_up_to_date(Path(__file__).with_name(f"{language}.py"))
        print(f"{language}: left out, a lexicon is missing ({error})")
        return []


def must_be_up_to_date(file: Path) -> None:
    """Raise an error unless everything that a check imports from the program exists."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("concord"):
            module = importlib.import_module(str(node.module))
            for name in node.names:
                getattr(module, name.name)


if __name__ == "__main__":
    sys.exit(main())

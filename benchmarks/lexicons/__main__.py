"""Check the word forms of all grammars: `python -m benchmarks.lexicons [LANGUAGE …]`.

Set up once:
    python3 -m venv .venv-lexicons && .venv-lexicons/bin/pip install -r benchmarks/lexicons/requirements.txt
    .venv-lexicons/bin/pip install --no-deps german-nouns==1.2.5
    apt-get install hspell hunspell hunspell-fr lttoolbox apertium-eng-spa
    PYTHONPATH=src .venv-lexicons/bin/python -m benchmarks.lexicons
"""

import importlib
import sys
from collections import Counter

from concord.data.grammar import languages
from concord.terminal import console, table


def main() -> int:
    view = table("word forms against lexicons", "language", numbers=["checked", "differ", "explained", "open"])
    still_open = 0
    for language in sys.argv[1:] or languages():
        counts: Counter[str] = Counter()
        for what, agrees, note in importlib.import_module(f"benchmarks.lexicons.{language}").forms():
            outcome = "agree" if agrees else "explained" if "explained: " in note else "open"
            counts[outcome] += 1
            if outcome == "open":
                print(f"{language}: {what}: {note}")
        still_open += counts["open"]
        differ = counts["explained"] + counts["open"]
        view.add_row(language, *(f"{n:,}" for n in (counts.total(), differ, counts["explained"], counts["open"])))
    console.print(view)
    return int(still_open > 0)


if __name__ == "__main__":
    sys.exit(main())

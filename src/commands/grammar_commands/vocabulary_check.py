"""`concord grammar check --vocab`: which words a vocabulary lacks, and what that costs."""

import argparse

from ...data.grammar.audit import coverage
from ...data.grammar.folder import read_text
from ...terminal import console, table
from .grammar_arguments import expansions


def check_vocabulary(arguments: argparse.Namespace) -> int:
    words = {line.split()[0] for line in read_text(arguments.vocab).splitlines() if line.split()}
    view = table(
        f"{arguments.folder} against {arguments.vocab} ({len(words):,} words)",
        "construction",
        numbers=["groups", "target\nmissing", "context\nmissing"],
        last="missing words (groups that contain them)",
    )
    missing = 0
    for expansion in expansions(arguments):
        found = coverage(expansion, words)
        missing += len(found.missing)
        shown = ", ".join(f"{word} ({count:,})" for word, count in found.missing.most_common(12))
        more = f", and {len(found.missing) - 12} more" if len(found.missing) > 12 else ""
        view.add_row(
            expansion.grammar.name,
            f"{found.groups:,}",
            f"{found.target_missing:,}",
            f"{found.context_missing:,}",
            (shown + more) or "none",
        )
    console.print(view)
    return int(missing > 0)

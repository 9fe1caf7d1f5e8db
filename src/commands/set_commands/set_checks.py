"""`concord sets check`: faults in sets, and the items a vocabulary would lose."""

import argparse
from pathlib import Path

from ...data.grammar.folder import read_text
from ...probes.challenge_set import ChallengeSet
from ...probes.collection import CollectedSet
from ...probes.lint import CHECKS, check
from ...probes.suites.suite_files import read as read_suite
from ...probes.suites.suite_screen import suite_notes
from ...terminal import console
from .set_arguments import add_set_arguments


def add_check(command: argparse.ArgumentParser) -> None:
    add_set_arguments(command, run_check)
    command.epilog, command.formatter_class = CHECKS, argparse.RawDescriptionHelpFormatter
    command.add_argument(
        "--vocab", type=Path, metavar="FILE", help="one word per line: report what a model with this vocabulary would not know"
    )


def run_check(arguments: argparse.Namespace, found: list[CollectedSet]) -> int:
    sets: list[ChallengeSet] = [each.challenge_set for each in found]
    words = None
    if arguments.vocab:
        words = {line.split()[0] for line in read_text(arguments.vocab).splitlines() if line.split()}
    # Suites have their own checks: their conditions are meant to differ in length and in several words.
    findings = check(sets if words else [made for made in sets if not made.is_suite], words)
    console.print(f"{sum(map(len, sets)):,} items in {len(sets)} sets")
    suites = [read_suite(Path(made.file)) for made in sets if made.is_suite]
    noted = list(suite_notes(suites, sets[0].language)) if suites else []
    for name, note in noted:
        console.print(f"{name:<24} note: {note}", style="dim", markup=False, soft_wrap=True)
    if not findings and not noted:
        console.print("nothing found")
        return 0
    for finding in findings:
        kind = finding.kind if finding.serious else f"note: {finding.kind}"
        console.print(
            f"{finding.construction:<24} {kind:<32} {finding.count:>9,} items",
            style=None if finding.serious else "dim",
            markup=False,
        )
        console.print(f"    {finding.place}\n    {finding.example}", markup=False)
    return int(any(finding.serious for finding in findings))

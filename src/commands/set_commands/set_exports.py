"""`concord sets export` and `build`: sets in other formats."""

import argparse
import sys
from pathlib import Path

from ...probes.challenge_set import SetError
from ...probes.collection import CollectedSet
from ...probes.exports import FORMATS, export
from ...probes.set_folders import FOLDERS
from ...probes.suites.chance import with_chance
from ...probes.suites.exported import SUITE_FORMATS, evaluated_sets, export_suite
from ...probes.suites.json_files import write_json
from ...probes.suites.suite_files import read as read_suite
from .set_arguments import add_set_arguments


def add_export(command: argparse.ArgumentParser) -> None:
    add_set_arguments(command, run_export)
    command.add_argument(
        "--to", required=True, choices=[*FORMATS, *SUITE_FORMATS, *FOLDERS], help="the format; syntaxgym: one suite per set"
    )
    command.add_argument(
        "--evaluated", type=Path, metavar="FILE", help="syntaxgym: regions.parquet of an evaluation, to fill in its values"
    )
    command.add_argument("--out", required=True, type=Path, metavar="FOLDER", help="where")


def add_build(command: argparse.ArgumentParser) -> None:
    add_set_arguments(command, run_build)
    command.add_argument("--out", required=True, type=Path, metavar="FOLDER", help="where")


def run_export(arguments: argparse.Namespace, found: list[CollectedSet]) -> None:
    if arguments.evaluated and arguments.to not in SUITE_FORMATS:
        raise SetError(arguments.evaluated, None, f"--evaluated is for --to {' or '.join(SUITE_FORMATS)}")
    if arguments.evaluated:
        found = _evaluated(found, arguments.evaluated)
    if arguments.to in FOLDERS:
        print(*FOLDERS[arguments.to]([each.challenge_set for each in found], arguments.out), sep="\n")
        return
    for each in found:
        if arguments.to in SUITE_FORMATS:
            print(export_suite(each.challenge_set, SUITE_FORMATS[arguments.to], arguments.out, arguments.evaluated))
            continue
        print(export(each.challenge_set, arguments.to, arguments.out))


def _evaluated(found: list[CollectedSet], file: Path) -> list[CollectedSet]:
    """The sets that an evaluation covers; the others are listed and left out."""
    known = evaluated_sets(file)
    others = [each.challenge_set.construction for each in found if each.challenge_set.construction not in known]
    if len(others) == len(found):
        raise SetError(file, None, f"it has no regions of {others[0]}; evaluate this suite first")
    if others:
        print(f"left out, not evaluated: {', '.join(others)}", file=sys.stderr)
    return [each for each in found if each.challenge_set.construction in known]


def run_build(arguments: argparse.Namespace, found: list[CollectedSet]) -> None:
    """Compile pages; rewrite JSON and CSV."""
    arguments.out.mkdir(parents=True, exist_ok=True)
    for each in found:
        if not each.challenge_set.is_suite:
            raise SetError(each.challenge_set.file, None, "only suites can be built; use concord sets export for other sets")
        file = arguments.out / f"{each.challenge_set.construction}.json"
        write_json(with_chance(read_suite(Path(each.challenge_set.file))), file)
        print(file)

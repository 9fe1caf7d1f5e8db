"""`concord runs list [FOLDER] [--all] [--json]`: all runs under a folder and their state."""

import argparse
import json
import sys
from pathlib import Path

from .exit_status import Parser, exit_status

DESCRIPTION = """\
Lists runs and their state.

  concord runs list                    everything in runs/: done, running, stopped or failed, with their numbers
  concord runs list --all              debug runs as well (debug=fast, overfit, profile)
  concord runs list elsewhere --json   another folder, as JSON for programs

Runs that differ only in their seed are listed together, under the settings that set them apart within their language and network.
"""


def main(arguments: list[str] | None = None) -> int:
    parser: argparse.ArgumentParser = Parser(
        prog="concord runs", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="all runs under a folder: done, running, stopped or failed, with their numbers")
    listing.add_argument("folder", nargs="?", type=Path, default=Path("runs"), help="where to look (default: runs)")
    listing.add_argument("--all", action="store_true", help="debug runs too")
    listing.add_argument("--json", action="store_true", help="JSON, for programs")
    asked = parser.parse_args(arguments)
    return exit_status(lambda: _list(asked))


def _list(asked: argparse.Namespace) -> int:
    # Late, so that --help comes at once.
    from ..runs.run_overview import describe_runs, show_runs
    from ..runs.run_state import runs_below

    if not asked.folder.is_dir():
        print(f"error: {asked.folder}: no such folder; name the one that paths.runs= points to", file=sys.stderr)
        return 1
    found, left_out = describe_runs(runs_below(asked.folder), with_debug=asked.all)
    if asked.json:
        print(json.dumps(found, indent=1, ensure_ascii=False))
    else:
        show_runs(found, asked.folder, left_out)
    return 0


if __name__ == "__main__":
    sys.exit(main())

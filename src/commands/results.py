"""Every verdict of runs and evaluations as one table: `concord results runs/… --out verdicts.parquet`."""

import argparse
import sys
from pathlib import Path

from ..files import require_writable
from .exit_status import Parser, exit_status

DESCRIPTION = """\
Writes every verdict of runs (finished or not), sweeps and evaluations into one tidy table, for R, pandas or anything else.

  concord results runs --out verdicts.parquet               one row per run, moment and contrast, with the features of its item
  concord results runs results --out verdicts.csv --final   the whole sets with the final weights only; .csv.gz too
  concord results runs --out verdicts.parquet --sentences   with the good and bad sentence of each pair

docs/results.md describes the columns.
"""


def main(argv: list[str] | None = None) -> int:
    """0 when the table was written, 1 for wrong input, 2 for a wrong call."""
    asked = _parser().parse_args(argv)
    return exit_status(lambda: _run(asked))


def _run(asked: argparse.Namespace) -> int:
    from ..report.conditions import group_by_condition
    from ..report.gathering import gather_results
    from ..report.verdict_table import require_suffix, write_verdicts

    require_suffix(asked.out)
    require_writable(asked.out.parent)
    found = gather_results(asked.runs)
    for each in found.left_out:
        print(f"left out   {each.path}: {each.why}")
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    rows, files = write_verdicts(group_by_condition(found.results), asked.out, asked.final, asked.sentences)
    print(f"{rows:,} verdicts from {len({result.path for result in found.results})} runs and evaluations ({files:,} files)")
    print(asked.out)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = Parser(
        prog="concord results", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="folders of runs or evaluations, or folders that contain them")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("verdicts.parquet"),
        metavar="FILE",
        help=".parquet (default: verdicts.parquet), .csv or .csv.gz",
    )
    parser.add_argument("--final", action="store_true", help="final results only, without the probes during training")
    parser.add_argument("--sentences", action="store_true", help="include the sentences of pairs")
    return parser


if __name__ == "__main__":
    sys.exit(main())

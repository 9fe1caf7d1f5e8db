"""Tables, figures, tests and a page on runs: `concord report runs/…`."""

import argparse
import sys
from functools import partial
from pathlib import Path

from ..errors import UserError
from ..files import require_writable
from ..metric_names import VALID_PERPLEXITY
from .exit_status import Parser, exit_status

DESCRIPTION = """\
Gathers runs (finished or not), sweeps and evaluations into tables, figures, tests, and one page that opens offline.

  concord report runs                                 everything in runs/
  concord report runs/de-*  results --out report/de   some runs, and evaluations
  concord report runs --baseline runs/de-lstm-…       every other model against this one, on the same items
  concord report runs --rows construction --columns attractor_number
  concord report runs --best 3 --by valid/perplexity  the three best seeds of each condition
  concord report runs --live                          a page in the browser that updates as models train

Writes <out>/report.html, <out>/tables/ (Markdown, CSV, LaTeX), <out>/figures/ (SVG, PNG), and <out>/data.csv with all numbers.
"""


def main(argv: list[str] | None = None) -> int:
    """0 when a report was made, 1 for wrong input, 2 for a wrong call."""
    asked = _parser().parse_args(argv)
    return exit_status(lambda: _run(asked))


def _run(asked: argparse.Namespace) -> int:
    from ..report.optional_packages import require_packages
    from ..report.report_folder import make_report, write_report
    from .live_report import serve_until_stopped

    require_writable(asked.out)
    require_packages("scipy", *(() if asked.no_figures or asked.live else ("pandas", "matplotlib")))
    crossings = [(asked.rows or "construction", asked.columns or "")] if asked.rows or asked.columns else []
    if asked.best is not None and asked.best < 1:
        raise UserError(f"--best {asked.best}: must be a whole number above 0")
    best = None if asked.best is None else (asked.best, asked.by)
    build = partial(make_report, asked.runs, asked.baseline, crossings, asked.published, best)
    if asked.live:
        return serve_until_stopped(asked.runs, build, (asked.host, asked.port), asked.out)
    made = build()
    for note in made.notes():
        print(note)
    page = write_report(made, asked.out, figures=not asked.no_figures)
    for name, what in (("tables.md", "tables"), ("figures", "figures"), ("data.csv", "numbers")):
        if (asked.out / name).exists():
            print(f"{what:10} {asked.out / name}")
    print(f"page       {page}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = Parser(
        prog="concord report", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="folders of runs or evaluations, or folders that contain them")
    parser.add_argument("--baseline", metavar="RUN", help="compare every other model with this one")
    parser.add_argument("--out", type=Path, default=Path("report"), metavar="DIR", help="output folder (default: report)")
    parser.add_argument("--rows", metavar="FEATURES", help="a table by item features (comma-separated): these as rows")
    parser.add_argument("--columns", metavar="FEATURES", help="… and these as columns")
    parser.add_argument("--published", action="store_true", help="all published columns, not only those at least half full")
    parser.add_argument("--best", type=int, metavar="K", help="only the K best runs of each condition")
    parser.add_argument(
        "--by", default=VALID_PERPLEXITY, metavar="METRIC", help="… by valid/perplexity (default) or test/perplexity"
    )
    parser.add_argument("--no-figures", action="store_true", help="skip SVG and PNG, which need matplotlib")
    parser.add_argument("--live", action="store_true", help="serve the page and update it as runs train, until Ctrl-C")
    parser.add_argument("--port", type=int, metavar="N", help="port for --live (default: 8008, or any free one)")
    parser.add_argument("--host", default="127.0.0.1", metavar="NAME", help="address for --live (default: this machine only)")
    return parser


if __name__ == "__main__":
    sys.exit(main())

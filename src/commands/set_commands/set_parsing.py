"""`concord sets parse`: raw text to trees, by a parser."""

import argparse
from pathlib import Path

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ...files import require_writable
from ...terminal import console


def add_parse(command: argparse.ArgumentParser) -> None:
    command.set_defaults(make=run_parse)
    command.add_argument("text", type=Path, metavar="TEXT", help="raw prose, compressed or not")
    command.add_argument(
        "--with", required=True, dest="parser", metavar="spacy:MODEL", help="spacy:fr_core_news_sm (extra: parse)"
    )
    command.add_argument(
        "--out", required=True, type=Path, metavar="FILE", help="the .conllu file; if interrupted, the same call resumes"
    )
    command.add_argument("--words", type=int, metavar="N", help="only about the first N words")
    command.add_argument("--workers", type=int, metavar="N", help="processes (default: one per core)")


def run_parse(arguments: argparse.Namespace) -> int:
    from ...data.parsed_text import make_parser, parse_text

    parser = make_parser(arguments.parser)
    require_writable(arguments.out.parent)
    columns = (SpinnerColumn(), TextColumn("parsing: {task.completed:,.0f} words"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("")
        made = parse_text(
            arguments.text,
            parser,
            arguments.out,
            arguments.words,
            arguments.workers,
            lambda n: progress.update(task, completed=n),
        )
    console.print(
        f"{made.sentences:,} sentences, {made.words:,} words by {parser.name}; {made.words_per_second:,.0f} words per second"
    )
    print(made.file)
    return 0

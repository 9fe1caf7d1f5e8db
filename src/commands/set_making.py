"""Make challenge sets: `concord sets extract fr/obj_participle fr_gsd-ud-train.conllu --out sets`."""

import argparse
import re
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ..errors import UserError
from ..files import require_writable
from ..terminal import console, show_whole, table

if TYPE_CHECKING:
    from ..probes.treebanks.controls import Controls
    from ..probes.treebanks.extraction import Extraction
    from ..probes.treebanks.set_writer import SetCounts

CONTROLS = ("permuted", "nonce", "mirror")


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    extract = commands.add_parser("extract", help="items from treebanks by a pattern, with controls")
    extract.set_defaults(make=run_extract)
    extract.add_argument(
        "pattern", metavar="PATTERN", help="sv_number, fr/obj_participle … (patterns/), or a .yaml file of yours"
    )
    extract.add_argument("files", nargs="+", type=Path, metavar="FILES", help="CoNLL-U, compressed or not")
    extract.add_argument("--out", required=True, type=Path, metavar="FOLDER", help="where the sets go, one .jsonl file each")
    extract.add_argument("--lang", default="", help="the language (default: what the file names begin with, fr_…)")
    extract.add_argument(
        "--vocabulary",
        metavar="CKPT | FILE",
        help="keep items whose words a model knows: a checkpoint, or a file with one word per line",
    )
    extract.add_argument(
        "--lexicon",
        action="append",
        default=[],
        metavar="FILE | PACKAGE",
        help="further forms: .conllu, .tsv, pymorphy3, lemminflect",
    )
    extract.add_argument("--controls", default=",".join(CONTROLS), help="which of permuted,nonce,mirror; none (default: all)")
    extract.add_argument(
        "--words", choices=["surface", "syntactic"], default="surface", help="as written (du) or analysed (de le)"
    )
    extract.add_argument("--same-onset", action="store_true", help="both forms begin in a vowel, or both in a consonant")

    parse = commands.add_parser("parse", help="raw text as trees, by a parser")
    parse.set_defaults(make=run_parse)
    parse.add_argument("text", type=Path, metavar="TEXT", help="raw prose, compressed or not")
    parse.add_argument("--with", required=True, dest="parser", metavar="spacy:MODEL", help="spacy:fr_core_news_sm (extra: parse)")
    parse.add_argument("--out", required=True, type=Path, metavar="FILE", help="the .conllu file; an interrupted call resumes it")
    parse.add_argument("--words", type=int, metavar="N", help="only the first N words or a few more")
    parse.add_argument("--workers", type=int, metavar="N", help="processes (default: one per core)")


def run_parse(arguments: argparse.Namespace) -> int:
    from ..data.parsed_text import make_parser, parse_text

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


def run_extract(arguments: argparse.Namespace) -> int:
    from ..data.patterns import find_pattern
    from ..probes.treebanks.controls import Controls
    from ..probes.treebanks.extraction import Extraction, Filters
    from ..probes.treebanks.set_writer import write_sets
    from ..probes.treebanks.word_forms import read_lexicon

    language = arguments.lang or language_of(arguments.pattern, arguments.files)
    pattern = find_pattern(arguments.pattern, language)
    kinds = [] if arguments.controls == "none" else arguments.controls.split(",")
    if unknown := [kind for kind in kinds if kind not in CONTROLS]:
        raise UserError(f"--controls {unknown[0]}: there is no such control; there are: {', '.join(CONTROLS)}, or none")
    require_writable(arguments.out)
    vocabulary = read_vocabulary(arguments.vocabulary)
    filters = Filters(arguments.words, vocabulary, arguments.same_onset)
    with console.status("reading the treebank"):
        extraction = Extraction(pattern, arguments.files, [read_lexicon(name) for name in arguments.lexicon], filters)
        controls = Controls(pattern, extraction.sources, vocabulary, kinds)
        for _ in controls.harvest(extraction.trees()):
            pass
        written = write_sets(extraction, controls, language, arguments.out)
    show_result(extraction, controls, written)
    return 0 if written.counts["original"] else 1


def language_of(pattern: str, files: list[Path]) -> str:
    """By the convention of Universal Dependencies: `fr_gsd-ud-train.conllu`."""
    found = {match[1] for file in files if (match := re.match(r"([a-z]{2,3})[_-]", file.name))}
    top = pattern.partition("/")[0] if "/" in pattern and not pattern.endswith(".yaml") else ""
    if len(found | ({top} - {""})) != 1:
        raise UserError(f"{files[0]}: the language does not show in the names of the files; say it, for instance --lang fr")
    return found.pop() if found else top


def read_vocabulary(name: str | None) -> Collection[str] | None:
    if name is None:
        return None
    file = Path(name)
    if file.suffix in (".ckpt", "") and not file.is_dir():
        from ..data.tokenizer import restore_tokenizer
        from ..lm.checkpoints import read_checkpoint

        return frozenset(restore_tokenizer(read_checkpoint(file)["concord"]).words)
    if file.is_dir():
        return read_vocabulary(str(file / "checkpoints" / "best.ckpt"))
    from ..probes.set_file import lines

    return frozenset(line.split()[0] for _, line in lines(file))


def show_result(extraction: "Extraction", controls: "Controls", written: "SetCounts") -> None:
    """The funnel, the sets, what could not be made and why."""
    from ..data.prefix_heuristics import N_HEURISTICS, NAMES
    from ..probes.treebanks.set_writer import funnel_rows

    funnel = table(f"{extraction.pattern.name}: {extraction.sentences:,} sentences", "step", numbers=["removed", "left"])
    for row in funnel_rows(extraction):
        funnel.add_row(*row)
    funnel.columns[0].no_wrap = False
    show_whole(funnel)
    sets = table(
        "sets, and how often each heuristic is right, in %",
        "set",
        numbers=["items", *(f"{name} right" for name in NAMES), "mean n_heuristics"],
    )
    for kind, n in written.counts.items():
        right = written.right[kind]
        known = right["n"] > 0
        shares = [f"{100 * right[name] / right['n']:.1f}" if known else "–" for name in NAMES]
        sets.add_row(kind, f"{n:,}", *shares, f"{right[N_HEURISTICS] / right['n']:.3f}" if known else "–")
    show_whole(sets)
    console.print(f"{written.attractors:,} items with an attractor between cue and target")
    for (kind, reason), n in sorted(controls.failed.items()):
        console.print(f"{kind}: not made for {n:,} {'item' if n == 1 else 'items'}: {reason}")
    for file in written.files:
        print(file)
    if not written.counts["original"]:
        console.print("no item was found; the table shows which rule removed the candidates")

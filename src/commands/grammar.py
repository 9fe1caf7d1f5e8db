"""The author's command: `concord grammar show de`."""

import argparse
import itertools
import random
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from ..data.grammar.audit import Audit, audit, coverage
from ..data.grammar.expand import Expansion, Group
from ..data.grammar.folder import CORPUS, constructions, folder_of, languages, load, read_text
from ..data.grammar.notices import GrammarError, Notice
from ..data.grammar.sample import Draw
from ..data.grammar.sentence_table import groups_table
from ..data.sources import challenge_sentences
from ..settings.languages import Clitics
from ..terminal import console, table
from .exit_status import exit_status

DESCRIPTION = """\
Look at grammars, count and check them, draw a corpus.

  concord grammar list                      the languages and how large their sets are
  concord grammar show de                   a few sentences of every German construction
  concord grammar show de prep -n 20        twenty of one construction
  concord grammar check de                  repetitions, balance, words the corpus never shows
  concord grammar check de/cases            the same of a collection in the language's folder
  concord grammar check de --vocab words.txt    which words are missing, and what they cost
  concord grammar sample de -n 10           draw sentences from the corpus grammar
  concord grammar sample de -n 100000 --seed 1 --withhold obj_rel --exclude-sets --out de.txt
"""


def main(argv: list[str] | None = None) -> int:
    """Run one subcommand; 0 is success, 1 a finding or a wrong grammar, 2 a wrong call."""
    arguments = _parser().parse_args(argv)
    return exit_status(lambda: arguments.run(arguments))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="concord grammar", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="list | show | count | check | sample")
    commands.add_parser("list", help="the languages and the size of their sets").set_defaults(run=run_list)
    show = _command(commands, "show", "a few sentences of each construction, target marked", run_show)
    show.add_argument("-n", type=_count, default=4, metavar="N", help="how many groups of each construction (default 4)")
    show.add_argument("--seed", type=int, default=0, help="which ones (default 0)")
    _command(commands, "count", "groups and sentences of each construction", run_count)
    check = _command(commands, "check", "faults of the sets, and words missing from the corpus or a vocabulary", run_check)
    check.add_argument("--vocab", type=Path, metavar="FILE", help="a word a line; anything after the first space is ignored")
    sample = commands.add_parser("sample", help="sentences drawn from the corpus grammar")
    sample.set_defaults(run=run_sample)
    sample.add_argument("folder", metavar="LANGUAGE", help="a language code, or a folder of grammar files")
    sample.add_argument("-n", type=_count, default=10, metavar="N", help="how many (default 10)")
    sample.add_argument("--seed", type=int, default=0, help="the same seed gives the same sentences (default 0)")
    sample.add_argument("--withhold", nargs="+", default=[], metavar="TAG", help="leave out rules with these tags")
    sample.add_argument("--exclude-sets", action="store_true", help="leave out the sentences of the challenge sets")
    sample.add_argument("--out", type=Path, metavar="FILE", help="write there instead of the screen")
    _clitics(sample)
    return parser


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number}: a number above 0 is needed")
    return number


def _command(commands: argparse._SubParsersAction, name: str, text: str, run: object) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=text)
    command.add_argument("folder", metavar="LANGUAGE", help="a language code, or a folder of grammar files")
    command.add_argument("constructions", nargs="*", metavar="CONSTRUCTION", help="only these (default: all)")
    command.set_defaults(run=run)
    _clitics(command)
    return command


def _clitics(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--clitics", choices=["split", "joined"], default="split", help="words marked with +: apart, or glued to the next"
    )


def _expansions(arguments: argparse.Namespace) -> Iterator[Expansion]:
    folder = folder_of(arguments.folder)
    names = arguments.constructions or constructions(folder)
    if not names:
        raise GrammarError(str(folder), "no grammar files (*.avg) here")
    for name in names:
        yield Expansion(load(folder, name), arguments.clitics)


def run_list(_: argparse.Namespace) -> None:
    """One row a construction, one column a language."""
    sizes = {
        (c, lang): Expansion(load(folder_of(lang), c)).count() for lang in languages() for c in constructions(folder_of(lang))
    }
    names = dict.fromkeys(c for c, _ in sizes)
    view = table("minimal sets", "construction", numbers=languages())
    for name in names:
        view.add_row(name, *(str(sizes.get((name, lang), "")) for lang in languages()))
    console.print(view)


def run_count(arguments: argparse.Namespace) -> None:
    """Exact numbers, by going through every group."""
    view = table(f"{arguments.folder}", "construction", numbers=["groups", "sentences", "words"])
    for expansion in _expansions(arguments):
        found = audit(expansion)
        view.add_row(expansion.grammar.name, f"{found.groups:,}", f"{found.sentences:,}", f"{len(found.words):,}")
    console.print(view)


def run_show(arguments: argparse.Namespace) -> None:
    """A sample that has every template in it before any template twice."""
    for expansion in _expansions(arguments):
        chosen = _sample(expansion, arguments.n, arguments.seed)
        console.print(groups_table(f"{expansion.grammar.name}  ({expansion.count():,} groups)", chosen))
        _say(expansion.notices)


def _sample(expansion: Expansion, n: int, seed: int) -> list[Group]:
    """Reservoirs, one a template, so that memory stays small."""
    rng = random.Random(seed)
    reservoirs: dict[int, list[Group]] = {}
    seen: dict[int, int] = {}
    for group in expansion:
        reservoir = reservoirs.setdefault(group.template, [])
        seen[group.template] = seen.get(group.template, 0) + 1
        if len(reservoir) < n:
            reservoir.append(group)
        elif (place := rng.randrange(seen[group.template])) < n:
            reservoir[place] = group
    rounds = itertools.zip_longest(*reservoirs.values())
    chosen = [group for row in rounds for group in row if group is not None][:n]
    return sorted(chosen, key=lambda group: group.number)


def run_check(arguments: argparse.Namespace) -> int:
    """Exit status 1 if a set has a fault."""
    if arguments.vocab:
        return _check_vocabulary(arguments)
    view = table(
        f"{arguments.folder}: challenge sets",
        "construction",
        numbers=["groups", "twice", "tauto-\nlogical", "syn-\ncretic", "without\na twin", "words not\nin corpus"],
        last="cells",
    )
    known, faults = _corpus_words(arguments.folder, arguments.clitics), 0
    for expansion in _expansions(arguments):
        expansion.must_vary()
        found = audit(expansion)
        absent = sorted(found.words - known) if known else []
        faults += bool(found.faults or absent)
        view.add_row(expansion.grammar.name, *_figures(found, absent, bool(known)), _cells(found))
        _say(expansion.notices)
        if absent:
            print(f"{expansion.grammar.file}: not in the corpus: {', '.join(absent[:20])}", file=sys.stderr)
    console.print(view)
    console.print("no faults" if not faults else f"faults in {faults} of the sets")
    return int(faults > 0)


def _figures(found: Audit, absent: list[str], has_corpus: bool) -> list[str]:
    missing = f"{len(absent):,}" if has_corpus else "–"
    return [*(f"{n:,}" for n in (found.groups, found.duplicates, found.tautologies, found.syncretic, found.alone)), missing]


def _cells(found: Audit) -> str:
    """Groups for each combination of subject and attractor number."""
    if found.balanced:
        return " + ".join(f"{len(cells)}×{max(cells.values()):,}" for cells in found.shapes().values())
    return "unbalanced: " + ", ".join(f"{'-'.join(cell)} {count:,}" for cell, count in sorted(found.cells.items()))


def _corpus_words(folder: str, clitics: Clitics) -> set[str]:
    """Every word that the corpus grammar of the folder, or of the one above, can produce; nothing where there is none."""
    places = [folder_of(folder), folder_of(folder).absolute().parent]
    path = next((place for place in places if (place / f"{CORPUS}.avg").exists()), None)
    if path is None:
        return set()
    draw = Draw(load(path, CORPUS), seed=0, clitics=clitics)
    # Joined clitics make words out of pairs, so the words are read off sentences, not off the rules.
    return {word for sentence in itertools.islice(draw, 200_000) for word in sentence.split()}


def _check_vocabulary(arguments: argparse.Namespace) -> int:
    words = {line.split()[0] for line in read_text(arguments.vocab).splitlines() if line.split()}
    view = table(
        f"{arguments.folder} against {arguments.vocab} ({len(words):,} words)",
        "construction",
        numbers=["groups", "target\nmissing", "context\nmissing"],
        last="missing words (groups that contain them)",
    )
    missing = 0
    for expansion in _expansions(arguments):
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


def run_sample(arguments: argparse.Namespace) -> None:
    """Sentences to the screen or a file, with what was left out said on the side."""
    folder = folder_of(arguments.folder)
    exclude: Collection[str] = challenge_sentences(folder, arguments.clitics).sentences() if arguments.exclude_sets else ()
    draw = Draw(load(folder, CORPUS), arguments.seed, arguments.withhold, exclude, arguments.clitics)
    lines = (f"{sentence}\n" for sentence in itertools.islice(draw, arguments.n))
    if arguments.out:
        with arguments.out.open("w", encoding="utf-8") as file:
            file.writelines(lines)
        print(f"{arguments.n:,} sentences written to {arguments.out}", file=sys.stderr)
    else:
        sys.stdout.writelines(lines)
    if exclude:
        print(f"{draw.excluded:,} of the sentences drawn were challenge sentences and were left out", file=sys.stderr)


def _say(notices: tuple[Notice, ...]) -> None:
    for notice in notices[:10]:
        print(f"note: {notice}", file=sys.stderr)
    if len(notices) > 10:
        print(f"note: … and {len(notices) - 10} more", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

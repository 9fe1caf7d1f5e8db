"""Look at challenge sets, fetch, check and convert them: `concord sets show de`."""

import argparse
import logging
import sys
from collections.abc import Callable
from pathlib import Path

from rich.text import Text

from ..data.download import default_downloads
from ..data.grammar import languages
from ..data.grammar.folder import read_text
from ..places import cache_folder
from ..probes.challenge_set import ChallengeSet, MinimalSet, SetError
from ..probes.collection import HUB, CollectedSet, ItemSelection, collect, locate, stratified_sample
from ..probes.contract import Contract, Rules
from ..probes.dev_and_test import split
from ..probes.exports import FORMATS, export
from ..probes.lint import CHECKS, check
from ..probes.named_collections import named_collection
from ..probes.published_sets import PUBLISHED, fetch_published, known_files
from ..probes.readers import formats
from ..probes.set_folders import FOLDERS
from ..probes.suites.chance import with_chance
from ..probes.suites.exported import SUITE_FORMATS, export_suite
from ..probes.suites.json_files import write_json
from ..probes.suites.suite_files import read as read_suite
from ..probes.suites.suite_screen import suite_lines, suite_notes
from ..settings.probing import AGREEMENT
from ..terminal import console, table
from .exit_status import exit_status
from .set_making import add_commands

SHORT = 24  # letters of a feature that fits beside the sentences
DESCRIPTION = """\
Challenge sets: what there is, a few items, their faults, other formats.

  concord sets list de                          our German sets, with sizes, features and splits
  concord sets show de prep -n 5                five items, target marked, bad form starred
  concord sets check ../clams/fr_evalset --lang fr      the faults of a published folder
  concord sets check fr --vocab words.txt       and what a vocabulary would cost
  concord sets fetch                            the published sets that go by name, with size and licence
  concord sets fetch multiblimp --lang de       one of them, now; on a node without a network it is then there
  concord sets show turblimp -n 5               five items of a published set
  concord sets list pairs.csv --lang nl --columns good=goed,bad=fout
  concord sets export de --to blimp --out sets/de
  concord sets export de --to lm_eval --out tasks       then: lm_eval --include_path tasks --tasks concord_de …
  concord sets check suites/mine --lang en      a folder of .suite pages: what an author should look at
  concord sets build suites/mine --lang en --out json   the same as JSON
  concord sets export en --collection suites --to syntaxgym --out json --evaluated results/…/regions.parquet
  concord sets extract fr/obj_participle fr_gsd-ud-*.conllu --out sets/fr     items from treebanks (docs/treebanks.md)
  concord sets parse novel.txt --with spacy:fr_core_news_sm --out novel.conllu

What to look at is a language (our own sets), a published set, a folder or a file; its format is recognised, or given with
--format. A data set of the Hugging Face hub is hf:owner/name.
"""

# What a command does with the sets that were chosen; the exit status, where it is not 0.
RunOnSets = Callable[[argparse.Namespace, list[CollectedSet]], int | None]


def main(argv: list[str] | None = None) -> int:
    """0 when all is well, 1 for faults and wrong files, 2 for a wrong call."""
    arguments = _parser().parse_args(argv)
    return exit_status(lambda: _run(arguments))


def _run(arguments: argparse.Namespace) -> int | None:
    if hasattr(arguments, "make"):
        return int(arguments.make(arguments))
    if arguments.run is run_fetch:
        return run_fetch(arguments)
    run: RunOnSets = arguments.run
    return run(arguments, _collected(arguments))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="concord sets", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="list | show | check | export | build | fetch | extract | parse")
    _command(commands, "list", "sets with sizes, features and splits", run_list)
    show = _command(commands, "show", "a few items of each set", run_show)
    show.add_argument("-n", type=positive, default=4, metavar="N", help="how many of each set (default 4)")
    lint = _command(commands, "check", "faults of the sets; exit status 1 if there are serious ones", run_check)
    lint.epilog, lint.formatter_class = CHECKS, argparse.RawDescriptionHelpFormatter
    lint.add_argument("--vocab", type=Path, metavar="FILE", help="a word a line: what a model with these words would not know")
    out = _command(commands, "export", "write the sets in another format", run_export)
    out.add_argument(
        "--to", required=True, choices=[*FORMATS, *SUITE_FORMATS, *FOLDERS], help="the format; syntaxgym: a suite per set"
    )
    out.add_argument("--evaluated", type=Path, metavar="FILE", help="syntaxgym: regions.parquet of an evaluation, for its values")
    out.add_argument("--out", required=True, type=Path, metavar="FOLDER", help="where")
    build = _command(commands, "build", "compile .suite pages into JSON, with the chance of every prediction", run_build)
    build.add_argument("--out", required=True, type=Path, metavar="FOLDER", help="where")
    add_commands(commands)
    get = commands.add_parser("fetch", help="published sets, by name, into the cache")
    get.add_argument("name", nargs="?", choices=list(PUBLISHED), metavar="NAME", help=f"one of {', '.join(PUBLISHED)}")
    get.add_argument("--lang", default="", help="of a set in several languages (default: all of them; multiblimp needs one)")
    get.set_defaults(run=run_fetch)
    return parser


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    text: str,
    run: RunOnSets,
) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=text)
    command.set_defaults(run=run)
    command.add_argument(
        "what", metavar="LANGUAGE | SET | PATH", help="a language code for our own sets, a published set, a folder or a file"
    )
    command.add_argument("constructions", nargs="*", default=[], metavar="CONSTRUCTION", help="only these (default: all)")
    command.add_argument(
        "--collection", default=AGREEMENT, help="of a language: agreement (ours, the default) or one of conf/probes"
    )
    command.add_argument("--path", metavar="FOLDER", help="where the collection is, if it is not part of the program")
    command.add_argument("--lang", default="", help="the language of a folder or file")
    command.add_argument("--format", choices=formats(), help="the format (default: recognised from the content)")
    command.add_argument(
        "--columns", type=columns, metavar="ROLE=NAME,…", help="of a table: good=…,bad=…,construction=…,masked=…"
    )
    command.add_argument(
        "--ruled", action="store_true", help="sentences as they are scored: closed by a full stop, repetitions once"
    )
    command.add_argument("--capitalize", action="store_true", help="the same, and with a capital at the start")
    command.add_argument("--limit", type=positive, metavar="N", help="a stratified sample of N items of each set")
    command.add_argument("--seed", type=int, default=0, help="which sample (default 0)")
    command.add_argument("--split", choices=["all", "dev", "test"], default="all", help="which part (default all)")
    return command


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text}: a whole number above 0 is needed")
    return int(text)


def columns(text: str) -> dict[str, str]:
    given = dict(part.partition("=")[::2] for part in text.split(","))
    if not all(given.values()):
        raise argparse.ArgumentTypeError(f"{text}: write good=NAME,bad=NAME (and construction=, masked=)")
    return given


def _collected(arguments: argparse.Namespace) -> list[CollectedSet]:
    logging.basicConfig(format="%(message)s", level=logging.INFO)
    path, language, form = Path(arguments.what), arguments.lang, arguments.format
    if arguments.what in PUBLISHED and not path.exists():
        language = language or next(iter(PUBLISHED[arguments.what].languages), "")
        if not language:
            raise SetError(arguments.what, None, "these sets are in many languages; say which: --lang de")
        named = named_collection(arguments.what, language)
        path, form = named.place(), form or named.format
    elif arguments.what.startswith(HUB):
        path = locate(arguments.what, language)
    elif arguments.what in languages():
        if language not in ("", arguments.what):
            raise SetError(
                arguments.what, None, f"--lang {language}: these sets are {arguments.what}; --lang is for a folder or a file"
            )
        named = named_collection(arguments.collection, arguments.what)
        path, language = Path(arguments.path) if arguments.path else named.place(), arguments.what
        form = form or named.format
    ruled = arguments.ruled or arguments.capitalize
    contract = Contract("default", Rules(capitalize=arguments.capitalize)) if ruled else None
    selection = ItemSelection(
        tuple(arguments.constructions), arguments.limit, arguments.seed, arguments.split, contract, columns=arguments.columns
    )
    found = collect(path, language, form, cache_folder("sets"), selection)
    if form is None:
        read_as = ", ".join(sorted({each.form for each in found}))
        print(f"read as {read_as}; --format says otherwise", file=sys.stderr)
    return found


def run_fetch(arguments: argparse.Namespace) -> int:
    """Without a name, what there is."""
    logging.basicConfig(format="%(message)s", level=logging.INFO)
    if arguments.name is None:
        view = table("published sets", "name", "languages", numbers=["MB"], last="licence")
        for made in PUBLISHED.values():
            size = sum(record.size for record in known_files().get(made.name, {}).values())
            view.add_row(made.name, " ".join(made.languages) or "101", f"{size / 1e6:.1f}" if size else "–", made.licence)
        console.print(view)
        return 0
    found = PUBLISHED[arguments.name]
    if not (asked := [arguments.lang] if arguments.lang else list(found.languages)):
        raise SetError(found.name, None, "these sets are in many languages; say which: --lang de")
    for language in asked:
        print(fetch_published(found.name, language, default_downloads()))
    return 0


def run_list(_: argparse.Namespace, found: list[CollectedSet]) -> None:
    forms = {each.form for each in found}
    several = ["format"] if len(forms) > 1 else []
    title = "challenge sets" + ("" if several else f" ({', '.join(forms)})")
    view = table(title, "construction", *several, numbers=["items", "sentences", "dev", "test"], last="split by")
    for each in found:
        made = each.challenge_set
        halves = split(made)
        numbers = (f"{n:,}" for n in (len(made), len(made.sentences), len(halves.dev), len(halves.test)))
        view.add_row(made.construction, *([each.form] if several else []), *numbers, halves.rule)
    console.print(view)
    features = dict.fromkeys(name for each in found for name in each.challenge_set.feature_names())
    console.print(f"features: {', '.join(features) or 'none'}")


def run_show(arguments: argparse.Namespace, found: list[CollectedSet]) -> None:
    for each in found:
        made = each.challenge_set
        if made.is_suite:
            suite = read_suite(Path(made.file))
            for line in suite_lines(suite, made.language or suite.language, suite.items[: arguments.n]):
                console.print(line, markup=False, soft_wrap=True)
            continue
        view = table(f"{made.construction}  ({len(made):,} items)", "features", last="variants")
        for index in stratified_sample(made, min(arguments.n, len(made)), arguments.seed):
            item = made[index]
            view.add_row(described(item), variants(item))
        console.print(view)


def described(item: MinimalSet) -> str:
    """The numbers of subject and attractors where they are known, else what else is known and short."""
    numbers = [str(value) for name, value in item.features.items() if name.endswith("_number")]
    others = [text for text in map(str, item.features.values()) if len(text) <= SHORT]
    return " ".join(numbers) or ", ".join(others[:2]) or "–"


def variants(item: MinimalSet) -> Text:
    """A line a variant: target in brackets, ungrammatical ones starred."""
    text = Text()
    for number, variant in enumerate(item.variants):
        star = {True: "  ", False: "* ", None: f"{variant.role}: "}[variant.grammatical]
        text.append("\n" if number else "")
        text.append(star, style="red" if variant.grammatical is False else "dim")
        starts = {start for name, start, end in variant.spans if name.startswith("target") and end > start}
        ends = {end - 1 for name, start, end in variant.spans if name.startswith("target") and end > start}
        words = (f"{'[' if i in starts else ''}{word}{']' if i in ends else ''}" for i, word in enumerate(variant.words))
        text.append(" ".join(words))
    return text


def run_check(arguments: argparse.Namespace, found: list[CollectedSet]) -> int:
    sets: list[ChallengeSet] = [each.challenge_set for each in found]
    words = None
    if arguments.vocab:
        words = {line.split()[0] for line in read_text(arguments.vocab).splitlines() if line.split()}
    # Suites have checks of their own: that their conditions differ in length and in several words is what they are made for.
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


def run_build(arguments: argparse.Namespace, found: list[CollectedSet]) -> None:
    """Pages are compiled; JSON and CSV are written anew."""
    arguments.out.mkdir(parents=True, exist_ok=True)
    for each in found:
        if not each.challenge_set.is_suite:
            raise SetError(each.challenge_set.file, None, "only suites are built; concord sets export writes other sets")
        file = arguments.out / f"{each.challenge_set.construction}.json"
        write_json(with_chance(read_suite(Path(each.challenge_set.file))), file)
        print(file)


def run_export(arguments: argparse.Namespace, found: list[CollectedSet]) -> None:
    if arguments.evaluated and arguments.to not in SUITE_FORMATS:
        raise SetError(arguments.evaluated, None, f"--evaluated is for --to {' or '.join(SUITE_FORMATS)}")
    if arguments.to in FOLDERS:
        print(*FOLDERS[arguments.to]([each.challenge_set for each in found], arguments.out), sep="\n")
        return
    for each in found:
        if arguments.to in SUITE_FORMATS:
            print(export_suite(each.challenge_set, SUITE_FORMATS[arguments.to], arguments.out, arguments.evaluated))
            continue
        print(export(each.challenge_set, arguments.to, arguments.out))


if __name__ == "__main__":
    sys.exit(main())

"""`concord sets extract`: items from treebanks by a pattern, with controls."""

import argparse
from pathlib import Path

from ...errors import UserError
from ...files import require_writable
from ...terminal import console
from .extraction_inputs import language_of, read_vocabulary
from .extraction_view import show_result

CONTROLS = ("permuted", "nonce", "mirror")


def add_extract(command: argparse.ArgumentParser) -> None:
    command.set_defaults(make=run_extract)
    command.add_argument(
        "pattern", metavar="PATTERN", help="sv_number, fr/obj_participle … (patterns/), or a .yaml file of yours"
    )
    command.add_argument("files", nargs="+", type=Path, metavar="FILES", help="CoNLL-U, compressed or not")
    command.add_argument(
        "--out", required=True, type=Path, metavar="FOLDER", help="output folder for the sets, one .jsonl file each"
    )
    command.add_argument("--lang", default="", help="the language (default: the prefix of the file names, fr_…)")
    command.add_argument(
        "--vocabulary",
        metavar="CKPT | FILE",
        help="keep items whose words a model knows: a checkpoint, or a file with one word per line",
    )
    command.add_argument(
        "--lexicon",
        action="append",
        default=[],
        metavar="FILE | PACKAGE",
        help="further forms: .conllu, .tsv, pymorphy3, lemminflect",
    )
    command.add_argument("--controls", default=",".join(CONTROLS), help="which of permuted,nonce,mirror; none (default: all)")
    command.add_argument(
        "--words", choices=["surface", "syntactic"], default="surface", help="as written (du) or analysed (de le)"
    )
    command.add_argument(
        "--same-onset", action="store_true", help="require both forms to start with a vowel, or both with a consonant"
    )


def run_extract(arguments: argparse.Namespace) -> int:
    from ...data.patterns import find_pattern
    from ...probes.treebanks.controls import Controls
    from ...probes.treebanks.extraction import Extraction, Filters
    from ...probes.treebanks.set_writer import write_sets
    from ...probes.treebanks.word_forms import read_lexicon

    language = arguments.lang or language_of(arguments.pattern, arguments.files)
    pattern = find_pattern(arguments.pattern, language)
    kinds = [] if arguments.controls == "none" else arguments.controls.split(",")
    if unknown := [kind for kind in kinds if kind not in CONTROLS]:
        raise UserError(f"--controls {unknown[0]}: no such control; available: {', '.join(CONTROLS)}, or none")
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

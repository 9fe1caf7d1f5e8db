"""The sets a command works on."""

import argparse
import logging
import sys
from pathlib import Path

from ...data.grammar import languages
from ...places import cache_folder
from ...probes.challenge_set import SetError
from ...probes.collection import HUB, CollectedSet, ItemSelection, collect, locate
from ...probes.contract import Contract, Rules
from ...probes.named_collections import named_collection
from ...probes.published_sets import PUBLISHED


def collect_chosen(arguments: argparse.Namespace) -> list[CollectedSet]:
    """The requested sets: of a language, published, from the hub, or from a folder or file."""
    logging.basicConfig(format="%(message)s", level=logging.INFO)
    path, language, form = Path(arguments.what), arguments.lang, arguments.format
    if arguments.what in PUBLISHED and not path.exists():
        language = language or next(iter(PUBLISHED[arguments.what].languages), "")
        if not language:
            raise SetError(arguments.what, None, "these sets cover many languages; pick one, for instance --lang de")
        named = named_collection(arguments.what, language)
        path, form = named.place(), form or named.format
    elif arguments.what.startswith(HUB):
        path = locate(arguments.what, language)
    elif arguments.what in languages():
        if language not in ("", arguments.what):
            raise SetError(
                arguments.what, None, f"--lang {language}: these sets are for {arguments.what}; --lang is for a folder or file"
            )
        named = named_collection(arguments.collection, arguments.what)
        path, language = Path(arguments.path) if arguments.path else named.place(), arguments.what
        form = form or named.format
    as_scored = arguments.as_scored or arguments.capitalize
    contract = Contract("default", Rules(capitalize=arguments.capitalize)) if as_scored else None
    selection = ItemSelection(
        tuple(arguments.constructions), arguments.limit, arguments.seed, arguments.split, contract, columns=arguments.columns
    )
    found = collect(path, language, form, cache_folder("sets"), selection)
    if form is None:
        read_as = ", ".join(sorted({each.form for each in found}))
        print(f"read as {read_as}; --format overrides this", file=sys.stderr)
    return found

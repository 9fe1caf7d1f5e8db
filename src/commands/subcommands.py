"""Subcommands that are loaded only when they are called, so that `concord sets --help` appears at once."""

import argparse
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import NamedTuple

from .exit_status import Parser

AddArguments = Callable[[argparse.ArgumentParser], None]


class Subcommand(NamedTuple):
    """Its function `add_<name>` adds the arguments, and as a default what to run."""

    module: str  # below concord.commands
    text: str


class LateParser(Parser):
    """Gets its arguments when it is about to read some."""

    add_arguments: AddArguments | None = None

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]  # argparse overloads it
        if self.add_arguments:
            self.add_arguments(self)
        return super().parse_known_args(args, namespace)


def parser_of(program: str, description: str, subcommands: Mapping[str, Subcommand]) -> argparse.ArgumentParser:
    """A parser for a program that has only subcommands."""
    parser = Parser(prog=program, description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar=" | ".join(subcommands), parser_class=LateParser)
    for name, each in subcommands.items():
        commands.add_parser(name, help=each.text).add_arguments = _find(name, each.module)
    return parser


def _find(name: str, module: str) -> AddArguments:
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        getattr(import_module(f"concord.commands.{module}"), f"add_{name}")(parser)

    return add_arguments

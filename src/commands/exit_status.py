"""How a command ends: wrong input and disk faults give one line; bugs in our code keep their traceback."""

import argparse
import sys
from collections.abc import Callable
from typing import NoReturn

from ..errors import UserError
from ..files import is_fault_of_disk, tell_fault


def exit_status(run: Callable[[], int | None]) -> int:
    """0 on success, 1 for wrong input, otherwise whatever the command returns."""
    try:
        return run() or 0
    except BrokenPipeError:
        sys.stderr.close()  # `… | head` closes the pipe once it has enough; that is not an error
        return 0
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
    except OSError as error:
        if not is_fault_of_disk(error):
            raise
        print(f"error: {tell_fault(error)}", file=sys.stderr)
    return 1


class Parser(argparse.ArgumentParser):
    """A wrong call gives one line too, not a page of usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {self.prog}: {message}; {self.prog} --help explains it\n")

"""Wrong input and bad luck end in one clear line and a status that is not 0; what is a bug of ours keeps its traceback."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import UserError
from ..files import is_fault_of_disk, tell_fault
from . import slurm
from .ranks import is_first
from .signals import Interrupted, heeded


@contextmanager
def explain_failures() -> Iterator[None]:
    """Turns the failures we know into messages."""
    try:
        with heeded():
            yield
    except Interrupted as stop:
        if is_first():
            print(f"stopped by {stop}{': ' if stop.standing else ''}{stop.standing}", file=sys.stderr)
        slurm.requeue(stop.number)
        sys.exit(stop.exit_status)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except OSError as error:
        if not is_fault_of_disk(error):
            raise
        print(f"error: {tell_fault(error)}", file=sys.stderr)
        sys.exit(1)

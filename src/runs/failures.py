"""Wrong input and bad luck end in one clear line and a status that is not 0; what is a bug of ours keeps its traceback."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import UserError
from ..files import is_fault_of_disk, tell_fault
from . import slurm
from .ranks import is_first
from .signals import Interrupted, find_interruption, heeded


@contextmanager
def explain_failures() -> Iterator[None]:
    """Turns the failures we know into messages."""
    try:
        with heeded():
            yield
    except (Interrupted, Exception) as error:
        if stop := find_interruption(error):
            if is_first():
                print(f"stopped by {stop}{': ' if stop.standing else ''}{stop.standing}", file=sys.stderr)
            slurm.requeue(stop.number)
            sys.exit(stop.exit_status)
        if isinstance(error, OSError) and is_fault_of_disk(error):
            error = UserError(tell_fault(error))
        if not isinstance(error, UserError):
            raise
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)

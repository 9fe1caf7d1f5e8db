"""Wrong input and bad luck end in one clear line and a status that is not 0; what is a bug of ours keeps its traceback."""

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import UserError
from . import slurm
from .signals import Interrupted, heeded


@contextmanager
def explain_failures() -> Iterator[None]:
    """Turns the failures we know into messages."""
    try:
        with heeded():
            yield
    except Interrupted as stop:
        print(f"stopped by {stop}: the state is saved, go on with ckpt_path=auto", file=sys.stderr)
        slurm.requeue(stop.number)
        sys.exit(stop.exit_status)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        where = error.filename or "no file named"
        print(f"error: the disk is full ({where}); make room, then go on with ckpt_path=auto", file=sys.stderr)
        sys.exit(1)

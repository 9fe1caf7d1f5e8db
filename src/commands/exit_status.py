"""How a command ends: wrong input and faults of the disk are told in one line, what is a bug of ours keeps its traceback."""

import sys
from collections.abc import Callable

from ..errors import UserError
from ..files import is_fault_of_disk, tell_fault


def exit_status(run: Callable[[], int | None]) -> int:
    """0 when all is well, 1 for wrong input, and whatever else the command says."""
    try:
        return run() or 0
    except BrokenPipeError:
        sys.stderr.close()  # `… | head` closes the pipe when it has enough; that is not an error
        return 0
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
    except OSError as error:
        if not is_fault_of_disk(error):
            raise
        print(f"error: {tell_fault(error)}", file=sys.stderr)
    return 1

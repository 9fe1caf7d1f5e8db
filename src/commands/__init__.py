"""The commands, one file each: a short story told in calls. Ctrl-C ends any of them, at any moment, with one line.

Heavy imports are inside functions, so that --help and a misspelt choice answer at once.
"""

import os
import sys
from types import TracebackType

# Before anything else is imported, since a command's first seconds are imports. Being a hook for uncaught exceptions, it is
# silent in tests, notebooks and programs that use a command as a function.
_tell_others = sys.excepthook


def _tell(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if not issubclass(kind, KeyboardInterrupt):
        _tell_others(kind, error, trace)
        return
    print("stopped by SIGINT", file=sys.stderr, flush=True)
    os._exit(130)  # as after the signal; the interpreter would kill itself by the signal, which not every caller understands


sys.excepthook = _tell

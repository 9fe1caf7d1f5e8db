"""The commands, a file each: the story of what is done, told in calls. Ctrl-C ends each of them in one line, at any moment.

Heavy imports stand inside their functions, so that --help and a misspelt choice answer at once.
"""

import os
import sys
from types import TracebackType

# Before anything else is imported, since the first seconds of a command are imports. As a hook for what nobody has caught it is
# silent in tests, notebooks and programs that use a command as a function.
_tell_others = sys.excepthook


def _tell(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if not issubclass(kind, KeyboardInterrupt):
        _tell_others(kind, error, trace)
        return
    print("stopped by SIGINT", file=sys.stderr, flush=True)
    os._exit(130)  # as after the signal; the interpreter would end itself by the signal, which not every caller understands


sys.excepthook = _tell

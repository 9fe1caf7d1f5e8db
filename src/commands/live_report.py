"""`concord report runs --live`: a page that follows runs as they train, until Ctrl-C; then it is saved."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from ..files import write_atomically
from ..report.gathering import expand_patterns
from ..report.live_server import serve
from ..report.report_folder import PAGE, ReportParts


def serve_until_stopped(
    runs: Sequence[str], build: Callable[..., ReportParts], address: tuple[str, int | None], out: Path
) -> int:
    """`build` takes what was read before. A missing folder is an error; one without runs is waited for."""
    list(expand_patterns(runs))
    live = serve(lambda read, before: build(read=read, before=before), *address, partial(print, flush=True))
    if live.page.version:
        out.mkdir(parents=True, exist_ok=True)
        write_atomically(out / PAGE, live.page.html(live=False))
        print(f"\npage       {out / PAGE}")
    return 0

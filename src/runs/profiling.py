"""Where the time of a run goes: Lightning's profilers, whose report is shown at the end and kept in the run's folder."""

import logging

from pytorch_lightning.profilers import AdvancedProfiler, Profiler, SimpleProfiler

from .run_folder import RunFolder

log = logging.getLogger(__name__)
LINES = 40  # that are shown; the file has all
PROFILERS: dict[str, type[SimpleProfiler | AdvancedProfiler]] = {"simple": SimpleProfiler, "advanced": AdvancedProfiler}


def profiler(name: str | None, folder: RunFolder) -> Profiler | None:
    """One that writes into the run's folder. By name alone, Lightning's would write to a log that is silent here."""
    return PROFILERS[name](dirpath=folder.path, filename="profile") if name else None


def show_profile(folder: RunFolder) -> None:
    """The report of the training, if one was asked for."""
    for file in sorted(folder.path.glob("fit-profile*.txt")):
        lines = [line.rstrip()[:200] for line in file.read_text(encoding="utf-8").splitlines() if line.strip(" -|")]
        log.info("%s", "\n".join(lines[:LINES]))
        log.info("profile    %s", file)

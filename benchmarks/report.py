"""A large report: 50 runs of 40 epochs, 10 constructions. How long it takes, how large the page is, how soon it appears.

python benchmarks/report.py [FOLDER] [--small]     (runs are written to FOLDER once, then reused)
"""

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import browser
from concord.report.gathering import ReadFolders
from concord.report.report_folder import make_report, write_page, write_report
from synthetic_runs import asked, settings, write_run

TEN = (
    *("simple_agrmt", "vp_coord", "long_vp_coord", "subj_rel", "obj_rel_within", "obj_rel_across", "prep"),
    *("sent_comp", "simple_reflexives", "reflexives_across"),
)


def made(folder: Path, runs: int, epochs: int) -> Path:
    """Ten seeds of five recipes."""
    whole = asked("en", 400, constructions=TEN)
    for number in range(runs):
        place = folder / f"en-{number:02d}"
        if not (place / "DONE").exists():
            chosen = settings("lang=en", f"model.embedding={100 * (1 + number // 10)}")
            write_run(place, whole, number % 10, epochs, 400, 0.4 + number / 100, chosen)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--small", action="store_true", help="takes seconds: a smoke test")
    asked_for = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        folder = asked_for.folder or Path(temporary)
        runs = made(folder / "runs", *((2, 2) if asked_for.small else (50, 40)))
        started = time.perf_counter(), time.process_time()
        read = ReadFolders()
        first = make_report([runs], baseline="en-00", read=read)
        page = write_page(first, folder / "page.html")
        print(f"page     {time.perf_counter() - started[0]:6.1f} s ({time.process_time() - started[1]:.1f} s of CPU time)")
        (runs / "en-00/metrics.csv").touch()
        for probe in sorted((runs / "en-00/probes").glob("*-step*.parquet"))[-1:]:
            probe.touch()  # as if it had been written just now
        started = time.perf_counter(), time.process_time()
        write_page(make_report([runs], baseline="en-00", read=read, before=first.conditions), folder / "page.html")
        print(f"again    {time.perf_counter() - started[0]:6.1f} s ({time.process_time() - started[1]:.1f} s of CPU time)")
        print(f"size     {page.stat().st_size / 1e6:6.2f} MB")
        started = time.perf_counter(), time.process_time()
        write_report(make_report([runs], baseline="en-00"), folder / "report")
        print(f"all      {time.perf_counter() - started[0]:6.1f} s ({time.process_time() - started[1]:.1f} s of CPU time)")
        print(f"memory   {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:6.0f} MB")
        if browser.CHROMIUM and not asked_for.small:
            opened = browser.Browser(Path(temporary) / "profile")
            seconds = [opened.open(page.resolve().as_uri()) for _ in range(3)]
            opened.close()
            print(f"view     {min(seconds):6.2f} s (best of three: {', '.join(f'{s:.2f}' for s in seconds)})")


if __name__ == "__main__":
    main()

"""A long curve: 200 checkpoints of one training run, seven constructions. Time to store and report, size of the page.

python benchmarks/checkpoint_curves.py [--small] [--items N]
"""

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import numpy as np
from concord.probes.accuracy import judge_scores
from concord.probes.models import wrap_function
from concord.report.report_folder import make_report, write_page, write_report
from concord.settings.watched import WatchedSettings
from concord.watching.curve_folder import CurveFolder, PointResult
from synthetic_runs import SPEED, asked, scores


def keep(folder: Path, checkpoints: int, items: int) -> CurveFolder:
    """The results of synthetic checkpoints, as `concord evaluate model.revisions=…` keeps them."""
    whole = asked("en", items, constructions=tuple(SPEED))
    model = wrap_function(lambda sentences: [[0.0] * len(each.split()) for each in sentences], "made up")
    config = WatchedSettings("published checkpoints", "made-up-160m", "steps", probes={"en/agreement": {}}).yaml()
    curve = CurveFolder(folder, [whole], {"model": "made up"})
    rng = np.random.default_rng(0)
    for number in range(checkpoints):
        skill = 0.6 * (1 - np.exp(-4 * number / checkpoints))
        answers = {curve.plans[0].prefix: judge_scores(whole, scores(whole, skill, rng))}
        point = PointResult(f"step{1000 * number}", {"steps": 1000 * number}, model=str(number))
        curve.keep_answers(point, model, config, answers)
    curve.keep_final(point, model, answers)
    curve.close()
    return curve


def timed(what: str, started: tuple[float, float]) -> None:
    print(f"{what:<8} {time.perf_counter() - started[0]:6.1f} s ({time.process_time() - started[1]:.1f} s of CPU time)")


def now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="takes seconds: a smoke test")
    parser.add_argument("--items", type=int, default=400, help="per construction")
    asked_for = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        started = now()
        curve = keep(folder / "curve", *((4, 20) if asked_for.small else (200, asked_for.items)))
        timed("keep", started)
        started = now()
        points = curve.scored()
        timed("resume", started)
        files = [file for file in curve.path.rglob("*") if file.is_file()]
        print(f"points   {len(points)}, {len(files)} files, {sum(file.stat().st_size for file in files) / 1e6:.1f} MB")
        started = now()
        page = write_page(make_report([curve.path]), folder / "page.html")
        timed("page", started)
        print(f"size     {page.stat().st_size / 1e6:6.2f} MB")
        started = now()
        write_report(make_report([curve.path]), folder / "report")
        timed("all", started)
        print(f"memory   {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:6.0f} MB")


if __name__ == "__main__":
    main()

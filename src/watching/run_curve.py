"""The checkpoints of one of our runs, evaluated by `concord evaluate ckpt_path=runs/…`, as a learning curve on any sets."""

import json
import logging
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..probes.accuracy import Answer
from ..probes.evaluation import curve_folder
from ..probes.models import Model
from ..probes.probe import Probe
from ..settings.evaluation_settings import EvaluationSettings
from .curve_display import show_curve
from .curve_folder import CurveFolder, PointResult

log = logging.getLogger(__name__)
BEST = "best"


def is_one_run(paths: Sequence[str] | None, models: Sequence[Model]) -> bool:
    """Whether these models are moments of one training run: all from one folder, but not all from one moment."""
    return paths is not None and len(paths) == 1 and Path(paths[0]).is_dir() and len(_moments(models)) > 1


def _moments(models: Sequence[Model]) -> dict[int, Model]:
    """One model per number of words seen: best and last may be the same moment under two names."""
    found: dict[int, Model] = {}
    for model in models:
        found.setdefault(model.words_seen, model)
    return found


def keep_run_curve(
    settings: EvaluationSettings, models: Sequence[Model], probes: Sequence[Probe], answers: Sequence[Mapping[str, Answer]]
) -> CurveFolder:
    """`answers`: for each probe, by model name. As for any run, the best weights represent the final model."""
    moments = sorted(_moments(models).values(), key=lambda model: model.words_seen)
    run = moments[0].name.rpartition("/")[0]
    trained = str(moments[0].identity().get("settings"))
    place = Path(settings.out) / "curve" if settings.out else _own_place(curve_folder(settings, run, probes), trained)
    if (place / "curve.json").exists():  # everything has just been evaluated again
        shutil.rmtree(place)
    sets = {f"{probe.language}/{probe.name}": probe.digest for probe in probes}
    curve = CurveFolder(place, probes, {"model": run, "settings": trained, "sets": sets})

    def of(model: Model) -> dict[str, Answer]:
        return {plan.prefix: found[model.name] for plan, found in zip(curve.plans, answers, strict=True)}

    def point(model: Model) -> PointResult:
        step = {"steps": model.step} if model.step or not model.words_seen else {}
        return PointResult(model.name.rpartition("/")[2], {**step, "words": model.words_seen})  # type: ignore[dict-item]

    config = moments[0].training.yaml() if moments[0].training else ""
    for model in moments:
        curve.keep_answers(point(model), model, config, of(model))
    best = next((model for model in models if model.name.endswith(f"/{BEST}")), moments[-1])
    curve.keep_final(point(best), best, of(best))
    curve.close()
    show_curve(curve, "words")
    return curve


def _own_place(folder: Path, trained: str) -> Path:
    """Another folder, if this one has the curve of a run that was trained otherwise and only has the same name."""
    try:
        there = json.loads((folder / "curve.json").read_text(encoding="utf-8")).get("settings", trained)
    except (OSError, ValueError, AttributeError):
        return folder  # none, or damaged and so replaced
    return folder if there == trained else folder.with_name(f"{folder.name}-{trained}")

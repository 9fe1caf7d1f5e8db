"""`hydra/sweeper=points` (individual settings, not a grid) and `hydra/sweeper=optuna` (a search): which jobs a sweep has."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.core.plugins import Plugins
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig


class PointSweeper(BasicSweeper):
    """Every point with every combination from the command line: `-m hparams_search=li2021_lstm seed=1,2,3`."""

    def __init__(self, points: Sequence[Mapping[str, object]], max_batch_size: int | None, params: dict[str, str] | None) -> None:
        super().__init__(max_batch_size, params)
        self.points = [[f"{key}={_typed(value)}" for key, value in point.items()] for point in points]

    def split_arguments(self, overrides: list[Override], max_batch_size: int | None) -> list[list[list[str]]]:  # type: ignore[override]
        (grid,) = BasicSweeper.split_arguments(overrides, None)
        # The command line comes last, so that it wins.
        jobs = [[*point, *combination] for combination in grid for point in self.points]
        return list(self.split_overrides_to_chunks(jobs, max_batch_size)) if jobs else []


class OptunaSweeper(Sweeper):
    """A search by Optuna. Not the published plugin, which is capped at Optuna 2 and can neither prune nor resume a study."""

    def __init__(self, params: dict[str, str] | None, **wishes: Any) -> None:
        self.params = params or {}
        self.wishes = wishes

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self.parser = OverridesParser.create(config_loader=hydra_context.config_loader)
        self.launcher = Plugins.instance().instantiate_launcher(hydra_context, task_function, config)

    def sweep(self, arguments: list[str]) -> None:
        from ..stopping import explain_failures

        with explain_failures():
            self._search(arguments)

    def _search(self, arguments: list[str]) -> None:
        from ...errors import UserError
        from .launchers import SweepLauncher

        if not find_spec("optuna"):
            raise UserError("hparams_search=optuna needs Optuna: pip install 'concord-lm[search]'")
        from .space import distribution
        from .study import Wishes, search

        launcher = self.launcher
        if not isinstance(launcher, SweepLauncher):
            raise UserError("hparams_search=optuna: use hydra/launcher=processes or submitit_slurm; it must watch its jobs")
        given = self.parser.parse_overrides([*(f"{key}={value}" for key, value in self.params.items()), *arguments])
        by_key = {override.get_key_element(): override for override in given}  # the command line wins
        searched = {key: override for key, override in by_key.items() if override.is_sweep_override()}
        fixed = [f"{key}={one.get_value_element_as_str()}" for key, one in by_key.items() if key not in searched]
        space = {key: distribution(override) for key, override in searched.items()}
        search(launcher, space, fixed, Wishes(**self.wishes))


def _typed(value: object) -> str:
    """As one would type it on the command line."""
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)

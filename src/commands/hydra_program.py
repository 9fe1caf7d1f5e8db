"""Hydra around a command: our configuration, our launchers and sweepers, and settings as people type them."""

import sys
from collections.abc import Callable

import hydra
from hydra.core.plugins import Plugins
from omegaconf import DictConfig

from ..places import installed_folder
from .typed_arguments import as_typed


def register_plugins() -> None:
    """Hydra looks for plugins in a namespace of its own; ours are part of the package."""
    plugins = Plugins.instance()  # loads Hydra's own sweepers anew, so that a class derived from them before would be orphaned
    from ..runs.sweeps.launchers import ProcessLauncher, SlurmLauncher
    from ..runs.sweeps.sweepers import OptunaSweeper, PointSweeper

    for plugin in (ProcessLauncher, SlurmLauncher, PointSweeper, OptunaSweeper):
        plugins.register(plugin)
        # A configuration may name only what seems to be in Hydra's own namespace.
        plugins.class_name_to_class[f"hydra_plugins.concord.{plugin.__name__}"] = plugin


def run_with_settings(config_name: str, command: Callable[[DictConfig], None]) -> None:
    """Read the command line, compose the settings from `conf/<config_name>.yaml` and what it includes, and run the command."""
    register_plugins()
    sys.argv[1:] = as_typed(sys.argv[1:])
    hydra.main(version_base="1.3", config_path=str(installed_folder("conf")), config_name=config_name)(command)()

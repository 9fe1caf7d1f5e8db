"""Hydra around a command: our configuration and the user's, our launchers and sweepers, and settings as people type them."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UserError
from ..places import OWN, installed_folder
from .help_page import FLAGS, help_page
from .typed_arguments import as_typed

if TYPE_CHECKING:
    from omegaconf import DictConfig

OWN_SETTING = "paths.own="


def register_plugins() -> None:
    """Hydra looks for plugins in its own namespace; ours are part of the package."""
    from hydra.core.plugins import Plugins

    plugins = Plugins.instance()  # reloads Hydra's sweepers, which would orphan a class derived from them earlier
    from ..runs.sweeps.launchers import ProcessLauncher, SlurmLauncher
    from ..runs.sweeps.sweepers import OptunaSweeper, PointSweeper
    from .own_settings import OwnSettings

    for plugin in (ProcessLauncher, SlurmLauncher, PointSweeper, OptunaSweeper, OwnSettings):
        plugins.register(plugin)
        # A configuration may name only what appears to be in Hydra's own namespace.
        plugins.class_name_to_class[f"hydra_plugins.concord.{plugin.__name__}"] = plugin


def run_with_settings(config_name: str, command: "Callable[[DictConfig], None]") -> None:
    """Read the command line, compose the settings from `conf/<config_name>.yaml` and what it includes, and run the command."""
    look_in_own_folder(sys.argv[1:])
    if {*FLAGS} & {*sys.argv[1:]}:
        print(help_page(config_name), end="")
        return
    import hydra
    import hydra._internal.utils as hydra_utils

    from ..settings.composition import COMPOSING, explain_composition

    register_plugins()
    sys.argv[1:] = as_typed(sys.argv[1:])
    begun = False

    def begin(cfg: "DictConfig") -> None:
        nonlocal begun
        begun = True
        command(cfg)

    # Hydra prints errors over many lines and exits; here they are reported like all others.
    hydra_utils.run_and_report = lambda func: func()
    try:
        hydra.main(version_base="1.3", config_path=str(installed_folder("conf")), config_name=config_name)(begin)()
    except COMPOSING as error:
        if begun or os.environ.get("HYDRA_FULL_ERROR") == "1":
            raise
        overrides = [each for each in sys.argv[1:] if not each.startswith("-")]
        told = error if isinstance(error, UserError) else explain_composition(error, overrides, config_name)
        print(f"error: {told}", file=sys.stderr)
        sys.exit(1)


def look_in_own_folder(arguments: list[str]) -> None:
    """`paths.own=` must be known before there are settings, and by every child process: it goes into the environment."""
    asked = [argument.removeprefix(OWN_SETTING) for argument in arguments if argument.startswith(OWN_SETTING)]
    if not asked:
        return
    folder = Path(asked[-1]).expanduser().resolve()
    if not folder.is_dir():
        why = "no such folder; name the one that contains your conf/ or grammars/"
        print(f"error: {OWN_SETTING}{asked[-1]}: {why}", file=sys.stderr)
        sys.exit(1)
    os.environ[OWN] = str(folder)

"""Hydra searches the user's own `conf/` before ours: a language, a model or an experiment is a file there."""

from hydra.core.config_search_path import ConfigSearchPath
from hydra.plugins.search_path_plugin import SearchPathPlugin

from ..places import installed_folder, own_folder


class OwnSettings(SearchPathPlugin):
    """Hydra asks this class where else to look."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        own = own_folder() / "conf"
        if own.is_dir() and own.resolve() != installed_folder("conf").resolve():
            search_path.prepend("own", f"file://{own.resolve()}", anchor="main")

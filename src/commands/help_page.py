"""The page that `concord train --help` and `concord evaluate --help` show: `hydra.help` from the command's configuration, with
the choices of the groups this command uses, ours and those in the user's own folder. Hydra's own page would list all groups.
"""

from pathlib import Path

import yaml

from ..places import choices, installed_folder, own_or_installed

FLAGS = ("-h", "--help")
CHOICES, HEADER = "$APP_CONFIG_GROUPS", "${hydra.help.header}"


def help_page(config_name: str) -> str:
    """What the command does, examples, choices."""
    settings = yaml.safe_load((installed_folder("conf") / f"{config_name}.yaml").read_text(encoding="utf-8"))
    page = settings["hydra"]["help"]
    groups = [name for entry in settings["defaults"] if isinstance(entry, dict) for name in entry if "hydra" not in name]
    shown = "".join(f"  {group}: {', '.join(found)}\n" for group, found in _with_subgroups(groups, config_name).items())
    return str(page["template"]).replace(HEADER, page["header"]).replace(CHOICES, shown).rstrip() + "\n"


def _with_subgroups(groups: list[str], config_name: str) -> dict[str, list[str]]:
    """`model/optimizer` belongs to trainable models."""
    found: dict[str, list[str]] = {}
    for group in groups:
        found[group] = choices(group, config_name)
        if config_name == "train":
            found |= {f"{group}/{name}": choices(f"{group}/{name}", config_name) for name in _folders(group)}
    return found


def _folders(group: str) -> list[str]:
    inside = (place for folder in own_or_installed(f"conf/{group}") for place in folder.iterdir())
    return sorted({place.name for place in inside if place.is_dir() and any(Path(place).glob("*.yaml"))})

"""What the documents name exists."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_places_that_contributing_names_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:src|conf|grammars|tests|benchmarks)/[^`]*)`", text)
    assert len(named) > 10
    for name in named:
        place = ROOT / name.split("<")[0]
        assert place.exists() or place.parent.exists(), name
        assert place.parent.is_dir()


def test_the_commands_of_the_readme_are_those_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make ([a-z-]+)", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_examples_in_the_readme_are_real_settings():
    from hydra import compose, initialize_config_dir

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^python train.py ([^#\n]*)", text, re.MULTILINE)
    assert len(commands) > 6
    for command in commands:
        overrides = [word for word in command.split() if "=" in word and "…" not in word]
        if "-m" in command.split():  # of a sweep: its first job
            overrides = [override.split(",")[0] for override in overrides]
        with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
            compose("train", overrides)

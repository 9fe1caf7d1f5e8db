"""Tests leave the user's files alone."""

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest
from concord.places import cache_folder

REAL = Path(pwd.getpwuid(os.getuid()).pw_dir)
WRITES = """
from pathlib import Path
from concord.places import cache_folder
print(Path.home(), cache_folder("sets"), cache_folder("corpora"))
import huggingface_hub.constants, matplotlib, wandb.env
print(huggingface_hub.constants.HF_HOME, matplotlib.get_cachedir(), wandb.env.get_cache_dir())
"""


@pytest.mark.parametrize("kind", ["sets", "corpora", "scores", "downloads"])
def test_what_tests_keep_is_not_in_the_users_home(kind):
    assert cache_folder(kind).is_relative_to(os.environ["CONCORD_TEST_HOME"])
    assert not cache_folder(kind).is_relative_to(REAL / ".cache")


def test_nor_is_what_their_processes_and_libraries_keep():
    done = subprocess.run([sys.executable, "-c", WRITES], capture_output=True, text=True, check=True)
    places = [Path(place) for place in done.stdout.split()]
    assert len(places) == 6
    for place in places:
        assert place.is_relative_to(os.environ["CONCORD_TEST_HOME"]), place
        assert not place.is_relative_to(REAL / ".cache"), place

"""Where things are kept: one answer for settings and for everything else."""

from pathlib import Path

from concord.places import cache_folder
from training_runs import settings


def test_the_cache_has_one_owner(monkeypatch, tmp_path):
    monkeypatch.delenv("CONCORD_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "")  # as good as not set
    assert cache_folder("sets") == Path.home() / ".cache/concord/sets"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder("sets") == tmp_path / "xdg/concord/sets"
    monkeypatch.setenv("CONCORD_CACHE", str(tmp_path / "own"))
    assert cache_folder("sets") == tmp_path / "own/sets"
    paths = settings().paths
    assert (paths.corpora, paths.fetched) == (cache_folder("corpora"), cache_folder("downloads"))
    paths = settings(f"paths.cache={tmp_path}/a", f"paths.downloads={tmp_path}/b").paths
    assert (paths.corpora, paths.fetched) == (tmp_path / "a", tmp_path / "b")

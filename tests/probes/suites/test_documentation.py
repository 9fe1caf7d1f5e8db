"""The page of the documentation is a suite."""

from concord.probes.suites.chance import chance_of
from concord.probes.suites.checks import notes
from concord.probes.suites.suite_page import read_page


def test_the_page_of_the_documentation_compiles(root, tmp_path):
    page = (root / "docs/suites.md").read_text(encoding="utf-8").split("```\n")[1]
    (tmp_path / "sva_pp.suite").write_text(page, encoding="utf-8")
    suite = read_page(tmp_path / "sva_pp.suite")
    assert suite.items[0]["mismatch_pl"].regions[2].content == "laughs"
    assert round(chance_of(suite).all, 2) == 0.25
    assert notes(suite) == ["only 1 items; below 20 an accuracy says little"]

"""docs/study.md: its tables are those of the results that are kept, and its figures are drawn from them."""

import re

import make_study


def test_the_tables_are_those_of_the_results():
    page = make_study.PAGE.read_text(encoding="utf-8")
    assert make_study.filled(page) == page, "write it anew: python docs/make_study.py"


def test_the_means_are_those_of_the_constructions():
    """Recomputed from the rows of the page itself."""
    rows = re.findall(r"^\| (\w+) \| \d+ \| [\w ]+ \| (\d\.\d\d) \| \d\.\d\d–", make_study.tables()["whole"], flags=re.MULTILINE)
    pattern = rf"^\| (\w+) \| {make_study.BASE} \| (\d+) \| [\d,]+ \| [\d.]+ \| (\d\.\d\d) "
    means = {
        name: (int(seeds), float(mean))
        for name, seeds, mean in re.findall(pattern, make_study.tables()["models"], flags=re.MULTILINE)
    }
    assert means
    for language, (seeds, mean) in means.items():
        own = [float(accuracy) for name, accuracy in rows if name == language]
        assert len(own) == seeds * len(make_study.SHARED)
        assert abs(sum(own) / len(own) - mean) < 0.01


def test_the_figures_are_drawn_from_what_is_kept(tmp_path):
    frame, _ = make_study.read_kept()
    names = {make_study.language_name(code) for code in frame[frame.condition == make_study.BASE].language}
    for file in make_study.draw_figures(tmp_path):
        text = file.read_text(encoding="utf-8")
        shown = (make_study.IMAGES / file.name).read_text(encoding="utf-8")
        for name in names:
            assert name in text
            assert name in shown

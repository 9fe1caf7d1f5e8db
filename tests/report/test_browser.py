"""The page in a browser: from disk, without a network."""

from collections.abc import Iterator
from pathlib import Path

import browser
import pytest
from concord.report.report_folder import make_report, write_page
from synthetic_runs import asked, settings, write_run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser.CHROMIUM is None, reason="needs a Chromium (Debian's package chromium)"),
]


@pytest.fixture(scope="module")
def opened(study: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Browser]:
    folder = tmp_path_factory.mktemp("browser")
    page = write_page(make_report([study], baseline="de-lstm-s1"), folder / "report.html")
    made = browser.Browser(folder / "profile")
    made.size(1280, 900)
    made.offline()
    made.open(page.as_uri())
    yield made
    made.close()


def texts(opened: browser.Browser, selector: str) -> list[str]:
    return opened.run(f"[...document.querySelectorAll({selector!r})].map((e) => e.textContent)")


def test_a_column_is_sorted(opened: browser.Browser) -> None:
    column = "#run-table tbody td:nth-child(1)"
    assert texts(opened, column)[0] == "de-lstm-s1"
    opened.run("document.querySelector('#run-table th:nth-child(4) button').click()")  # mean accuracy
    values = [float(text) for text in texts(opened, "#run-table tbody td:nth-child(4)")]
    assert values == sorted(values)
    assert opened.run("document.querySelector('#run-table th:nth-child(4)').getAttribute('aria-sort')") == "ascending"
    opened.run("document.querySelector('#run-table th:nth-child(4) button').click()")
    values = [float(text) for text in texts(opened, "#run-table tbody td:nth-child(4)")]
    assert values == sorted(values, reverse=True)


def test_a_construction_is_switched_off_and_on(opened: browser.Browser) -> None:
    lines = "document.querySelectorAll('#accuracy-chart path.curve').length"
    before = opened.run(lines)
    assert before == 7
    chip = "document.querySelector('#chips [data-key=prep]')"
    opened.run(f"{chip}.click()")
    assert opened.run(lines) == 6
    assert opened.run(f"{chip}.getAttribute('aria-pressed')") == "false"
    opened.run(f"{chip}.click()")
    assert opened.run(lines) == 7


def test_curves_answer_to_the_mouse(opened: browser.Browser) -> None:
    opened.run("document.querySelector('#accuracy-chart').scrollIntoView({block: 'center'})")
    bounds = "document.querySelector('#accuracy-chart svg').getBoundingClientRect()"
    x, y, width, height = (opened.run(f"{bounds}.{side}") for side in ("x", "y", "width", "height"))
    opened.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + width / 3, y=y + height / 2)
    assert "words" in opened.run("document.querySelector('#accuracy-chart .tip').textContent")
    assert not opened.run("document.querySelector('#accuracy-chart .tip').hidden")
    opened.mouse("mousePressed", x + 150, y + height / 2)
    opened.mouse("mouseMoved", x + 400, y + height / 2)
    opened.mouse("mouseReleased", x + 400, y + height / 2)
    assert opened.run("document.querySelector('#zoom-reset') !== null")
    opened.run("document.querySelector('#zoom-reset').click()")
    assert opened.run("document.querySelector('#zoom-reset') === null")


def test_many_constructions_are_small_charts_by_family(opened: browser.Browser, tmp_path: Path) -> None:
    write_run(tmp_path / "runs/en", asked("en", 4), epochs=2, chosen=settings("lang=en"))
    before = opened.run("location.href")
    page = write_page(make_report([tmp_path / "runs"]), tmp_path / "many.html")
    opened.open(page.as_uri())
    opened.requests.clear()
    assert texts(opened, ".multiples h4") == ["agreement", "agreement across an attractor", "reflexives", "negative polarity"]
    assert opened.run("document.querySelectorAll('#accuracy-chart path.curve').length") == 22
    assert opened.run("document.querySelectorAll('#accuracy-chart path.ghost').length") == 3 * 22
    edges = "[...document.querySelectorAll('#accuracy-chart svg')].map((s) => s.querySelector('.axis text').getBBox().width)"
    assert len(opened.run(edges)) == 4
    # What joins a name to its curve stays in the margin, beside the plot.
    inside = """[...document.querySelectorAll('#accuracy-chart svg')].flatMap((s) => {
        const plot = s.querySelector('rect[fill=transparent]').getBBox();
        return [...s.querySelectorAll('.leader')].filter((p) => p.getBBox().x < plot.x + plot.width);
    }).length"""
    assert opened.run(inside) == 0
    opened.open(before)
    opened.requests[:] = opened.requests[-1:]


def test_an_item_page_opens_and_hebrew_runs_from_right_to_left(opened: browser.Browser) -> None:
    opened.run("document.querySelector('a[href=\"#/he/agreement/prep\"]').click()")
    opened.run("new Promise((done) => setTimeout(done, 50))")
    assert texts(opened, "#page h1") == ["across a prepositional phrase"]
    assert opened.run("document.querySelector('#main').hidden")
    shown = "[...document.querySelectorAll('.item .sentence')]"
    sentences = opened.run(f"{shown}.map((e) => [e.dir, e.lang, getComputedStyle(e).direction, e.textContent])")
    assert sentences
    assert all(each[:3] == ["rtl", "he", "rtl"] for each in sentences)
    # Laid out so, not only labelled: the first word stands to the right of the tested one.
    first, target = opened.run("""(() => {
        const sentence = document.querySelector('.item .sentence'), range = document.createRange();
        range.setStart(sentence.firstChild, 0); range.setEnd(sentence.firstChild, 1);
        return [range.getBoundingClientRect().x, sentence.querySelector('mark').getBoundingClientRect().x];
    })()""")
    assert first > target
    assert opened.run("document.querySelectorAll('.item mark').length") == len(sentences)
    assert all("right" in text and "wrong" in text for text in texts(opened, ".item table"))
    way = "document.querySelector('#pick-way')"
    opened.run(f"{way}.value = 'models'; {way}.dispatchEvent(new Event('change'))")
    assert opened.run("document.querySelector('#pick-a') !== null")
    opened.run("location.hash = '#runs'")
    opened.run("new Promise((done) => setTimeout(done, 50))")
    assert opened.run("document.querySelector('#page').hidden")


@pytest.mark.parametrize(("width", "phone"), [(1280, False), (390, True)])
def test_nothing_is_wider_than_the_screen(opened: browser.Browser, width: int, phone: bool) -> None:
    opened.size(width, 844, phone)
    opened.run("window.dispatchEvent(new Event('resize'))")
    assert opened.run("document.documentElement.scrollWidth") <= width
    opened.size(1280, 900)


def test_the_dark_page_is_dark_and_the_button_overrules(opened: browser.Browser) -> None:
    def brightness() -> int:
        return sum(opened.run("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"))

    opened.dark()
    assert brightness() < 150
    opened.run("document.querySelector('#theme').click()")
    assert brightness() > 600
    opened.dark(False)
    opened.run("document.querySelector('#theme').click()")
    assert brightness() < 150
    opened.run("document.querySelector('#theme').click()")


def test_no_error_and_no_request_but_the_file(opened: browser.Browser) -> None:
    assert opened.errors == []
    assert all(url.startswith("file://") for url in opened.requests)
    assert len(opened.requests) == 1

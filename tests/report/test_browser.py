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


def test_a_pinned_line_stays_in_front_and_the_others_are_pale(opened: browser.Browser) -> None:
    pale = "[...document.querySelectorAll('#accuracy-chart path.curve')].map((e) => e.classList.contains('pale'))"
    assert opened.run(pale) == [False] * 7
    opened.run("document.querySelector('#chips [data-pin=prep]').click()")
    assert opened.run(pale) == [True] * 6 + [False]  # what is pinned is drawn last
    assert texts(opened, "#accuracy-chart .tag:not(.pale)") == [
        "across a preposi…onal phraseacross a prepositional phrase: click to pin"
    ]
    assert opened.run("document.querySelector('#chips [data-pin=prep]').getAttribute('aria-pressed')") == "true"
    # Another network: the pin stays.
    box = "document.querySelector('#pick-condition')"
    choose = f"{box}.selectedIndex = N; {box}.dispatchEvent(new Event('change'))"
    opened.run(choose.replace("N", "1"))
    assert opened.run(pale).count(False) == 1
    opened.run(choose.replace("N", "0"))
    # A click on the name of another line pins it too; on the same again, no longer.
    click = "document.querySelector('#accuracy-chart .tag.pale').dispatchEvent(new Event('click'))"
    opened.run(click)
    assert opened.run(pale).count(False) == 2
    opened.run("document.querySelector('#unpin').click()")
    assert opened.run(pale) == [False] * 7
    assert opened.run("document.querySelector('#unpin') === null")


def test_a_click_on_a_line_pins_it(opened: browser.Browser) -> None:
    opened.run("document.querySelector('#accuracy-chart').scrollIntoView({block: 'center'})")
    at = """(() => { const line = document.querySelector('#accuracy-chart path.curve');
        const to = line.getPointAtLength(line.getTotalLength() * 0.45);
        const box = line.ownerSVGElement.getBoundingClientRect(), view = line.ownerSVGElement.viewBox.baseVal;
        return [box.x + to.x * box.width / view.width, box.y + to.y * box.height / view.height]; })()"""
    x, y = opened.run(at)
    opened.mouse("mousePressed", x, y)
    opened.mouse("mouseReleased", x, y)
    assert opened.run("document.querySelectorAll('#chips .pin[aria-pressed=true]').length") == 1
    opened.run("document.querySelector('#unpin').click()")


BOX = "(() => { const r = document.querySelector(%r).getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; })()"


def test_a_tooltip_is_complete_and_inside_the_screen(opened: browser.Browser) -> None:
    for width, phone in ((390, True), (1280, False)):
        opened.size(width, 900, phone)
        opened.run("document.querySelector('#accuracy-chart').scrollIntoView({block: 'center'})")
        left, top, right, bottom = opened.run(BOX % "#accuracy-chart svg")
        for part in (0.2, 0.5, 0.7):
            opened.call("Input.dispatchMouseEvent", type="mouseMoved", x=left + (right - left) * part, y=(top + bottom) / 2)
            tip = opened.run(BOX % "#accuracy-chart .tip")
            assert 0 <= tip[0] < tip[2] <= width
            assert 0 <= tip[1] < tip[3] <= 900
            assert opened.run("document.querySelectorAll('#accuracy-chart .tip tr').length") == 7


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

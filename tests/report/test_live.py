"""A page that lives: runs appear, train, fail and are deleted while it is open."""

import gc
import shutil
import threading
import time
import tracemalloc
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import browser
import pytest
from concord.errors import UserError
from concord.report.live import LiveReport
from concord.report.live_server import LiveServer, open_server
from concord.report.report_folder import make_report
from synthetic_runs import asked, write_run


def live_report(runs: Path) -> LiveReport:
    return LiveReport(lambda read, before: make_report([runs], read=read, before=before))


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for seed in (1, 2):
        write_run(tmp_path / f"runs/de-s{seed}", asked("de", 8), seed, epochs=3, sample=8)
    return tmp_path / "runs"


def go_on(runs: Path, name: str, epochs: int, finished: bool = False) -> None:
    """The run as it is so many epochs later."""
    shutil.rmtree(runs / name, ignore_errors=True)
    write_run(runs / name, asked("de", 8), 7, epochs=epochs, sample=8, finished=finished)


def test_only_what_has_changed_is_read_and_computed_again(runs: Path) -> None:
    live = live_report(runs)
    assert live.refresh()
    before = {result.name: result for result in live._last.findings.results}
    columns = {file: before["de-s1"].files.columns(file) for file in (runs / "de-s1/probes").glob("*-step*.parquet")}
    assert not live.refresh()
    go_on(runs, "de-s7", 2)
    assert live.refresh()
    after = {result.name: result for result in live._last.findings.results}
    assert after["de-s1"] is before["de-s1"]
    assert all(after["de-s1"].files.columns(file) is found for file, found in columns.items())
    # What the training logs between two probes is nothing new.
    file = runs / "de-s7/metrics.csv"
    head = file.read_text(encoding="utf-8").splitlines()[0].split(",")
    with file.open("a", encoding="utf-8") as stream:
        stream.write(",".join("120" if name == "step" else "" for name in head) + "\n")
    assert not live.refresh()


def test_the_incremental_page_is_the_page_from_nothing(runs: Path) -> None:
    live = live_report(runs)
    live.refresh()
    go_on(runs, "de-s7", 2)
    live.refresh()
    go_on(runs, "de-s7", 4, finished=True)
    live.refresh()
    fresh = live_report(runs)
    fresh.refresh()
    dated = ("footer",)  # the time at which it was made
    assert {k: v for k, (_, v) in live.page.parts.items() if k not in dated} == {
        k: v for k, (_, v) in fresh.page.parts.items() if k not in dated
    }
    assert (live.page.data, live.page.items) == (fresh.page.data, fresh.page.items)


def test_runs_that_go_wrong_or_away_are_told(runs: Path) -> None:
    live = live_report(runs)
    live.refresh()
    (runs / "de-s3").mkdir()
    (runs / "de-s3/config.yaml").write_text("{", encoding="utf-8")
    shutil.rmtree(runs / "de-s2")
    assert live.refresh()
    summary = live.page.parts["summary"][1]
    assert "de-s3" in summary
    assert "deleted or moved (noticed at" in summary
    assert "de-s2" not in live.page.data
    shutil.rmtree(runs / "de-s1")
    shutil.rmtree(runs / "de-s3")
    assert not live.refresh()
    assert "nothing to report on" in live.trouble
    assert live.page.version == 2


@pytest.mark.slow
def test_many_updates_take_no_more_memory_than_few(runs: Path) -> None:
    live = live_report(runs)
    sizes = []
    tracemalloc.start()
    for number in range(40):
        go_on(runs, "de-s7", 1 + number % 2)
        assert live.refresh()
        if number in (9, 39):
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert sizes[1] < 1.15 * sizes[0]


@pytest.fixture
def served(runs: Path) -> Iterator[LiveServer]:
    live = live_report(runs)
    server = open_server(live, "127.0.0.1", 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    live.stop()
    server.shutdown()
    server.server_close()


def fetch(server: LiveServer, path: str, host: str | None = None) -> str:
    request = urllib.request.Request(server.url + path, headers={"Host": host} if host else {})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read().decode()


def test_what_is_served_is_for_this_machine_and_can_be_saved(served: LiveServer, runs: Path) -> None:
    assert served.server_address[0] == "127.0.0.1"
    assert "Waiting for the first probe" in fetch(served, "")
    served.live.refresh()
    assert 'data-live="1"' in fetch(served, "")
    saved = fetch(served, "report.html")
    assert "data-live=" not in saved.split("<script")[0]
    assert 'id="items:de/agreement"' in saved
    with pytest.raises(urllib.error.HTTPError, match="403"):
        fetch(served, "", host="evil.example")
    with pytest.raises(UserError, match="cannot be served there"):
        open_server(served.live, "127.0.0.1", served.server_address[1])


def eventually(true: Callable[[], bool], seconds: float = 30) -> None:
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.skipif(browser.CHROMIUM is None, reason="needs a Chromium (Debian's package chromium)")
def test_a_page_in_the_browser_gains_points_and_keeps_what_was_chosen(served: LiveServer, runs: Path, tmp_path: Path) -> None:
    go_on(runs, "de-s7", 2)
    served.live.refresh()
    opened = browser.Browser(tmp_path / "profile")
    opened.size(1280, 900)
    opened.open(served.url)
    name = "[...document.querySelectorAll('#pick-condition option')].find((o) => o.textContent.includes('unfinished')).value"
    pick = "document.querySelector('#pick-condition')"
    opened.run(f"{pick}.value = {name}; {pick}.dispatchEvent(new Event('change'))")
    opened.run("document.querySelector('#zoom-in').click()")
    opened.run("document.querySelector('#chips [data-key=prep]').click()")
    opened.run("document.querySelector('#run-table th:nth-child(4) button').click()")
    chosen = "document.querySelector('#pick-condition').selectedOptions[0].textContent"
    before = opened.run(chosen)
    points = "document.querySelector('#accuracy-chart path.curve').getAttribute('d').split('L').length"
    assert opened.run(points) == 3
    version = partial(opened.run, "document.documentElement.dataset.live")
    go_on(runs, "de-s7", 4)
    served.live.refresh()
    eventually(lambda: version() == "2")
    assert opened.run(points) == 5
    assert opened.run(chosen) == before
    assert opened.run("document.querySelector('#zoom-reset') !== null")
    assert opened.run("document.querySelector('#chips [data-key=prep]').getAttribute('aria-pressed')") == "false"
    assert opened.run("document.querySelector('#run-table th:nth-child(4)').getAttribute('aria-sort')") == "ascending"
    opened.run("location.hash = '#/de/agreement/prep'")
    eventually(lambda: opened.run("document.querySelectorAll('.item').length") > 0)
    shutil.rmtree(runs / "de-s7")
    served.live.refresh()
    eventually(lambda: version() == "3")
    opened.run("location.hash = '#summary'")
    eventually(lambda: opened.run("!document.querySelector('#main').hidden"))
    assert "de-s7: deleted or moved (noticed at" in opened.run("document.querySelector('#left-out').textContent")
    assert opened.run("[...document.querySelectorAll('#run-table td:first-child')].map((e) => e.textContent)") == [
        "de-s1",
        "de-s2",
    ]
    served.live.stop()
    eventually(lambda: opened.run("document.querySelector('#live').textContent") == "stopped")
    assert opened.errors == [] or all("410" in error for error in opened.errors), opened.errors
    assert all(url.startswith(served.url) for url in opened.requests)
    opened.close()

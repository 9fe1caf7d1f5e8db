"""A live report: rebuilt when something in its folders changes."""

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from .conditions import RunCondition
from .gathering import ReadFolders
from .left_out import UNREADABLE, LeftOut, first_line
from .page import fill_page, nav_html, to_json
from .page_data import items_data, page_data
from .report_folder import ReportParts
from .run_list import states_of

# Builds a report from what was read before and the conditions of the last build.
Build = Callable[[ReadFolders, Sequence[RunCondition]], ReportParts]
PATIENCE = 20.0  # seconds that a browser's request for news may wait for an answer


@dataclass
class PageState:
    """What the page shows, each part with the version in which it last changed."""

    version: int = 0
    title: str = ""
    parts: dict[str, tuple[int, str]] = field(default_factory=dict)
    data: str = ""
    items: dict[str, str] = field(default_factory=dict)

    def html(self, live: bool) -> str:
        """The page as served, or the report as saved."""
        parts = {name: text for name, (_, text) in self.parts.items()}
        return fill_page(self.title, parts, self.data, {} if live else self.items, self.version if live else None)

    def news(self, after: int) -> str:
        """What a page of an earlier version lacks."""
        parts = {name: text for name, (changed, text) in self.parts.items() if changed > after}
        about = json.dumps({"version": self.version, "title": self.title, "parts": parts}, ensure_ascii=False)
        return f'{about[:-1]}, "data": {self.data}}}'


class LiveReport:
    """Rebuilds the page when runs change, and hands it to whoever asks."""

    def __init__(self, build: Build) -> None:
        self.page = PageState()
        self.trouble = "nothing has been read yet"
        self.stopped = False
        self.changed = threading.Condition()
        self._build = build
        self._read = ReadFolders()
        self._last: ReportParts | None = None
        self._seen: object = None
        self._gone: dict[Path, str] = {}

    def refresh(self) -> bool:
        """Check the folders once and say whether the page changed. A folder that changes while being read is read again."""
        try:
            made = self._build(self._read, self._last.conditions if self._last else ())
            results = made.findings.results
            self._note_gone({result.path for result in results})
            missing = [*made.findings.left_out, *(LeftOut(str(path), why) for path, why in self._gone.items())]
            made = replace(made, findings=replace(made.findings, left_out=missing))
            now = (results, missing, states_of(results))
            if self._last is not None and self._seen == now and all(map(_is, results, self._last.findings.results)):
                return False
            self._publish(made)
            self._last, self._seen, self.trouble = made, now, ""
        except UNREADABLE as error:
            self.trouble = first_line(error)
            return False
        return True

    def _note_gone(self, there: set[Path]) -> None:
        before = {result.path for result in self._last.findings.results} if self._last else set()
        when = time.strftime("%H:%M:%S")
        self._gone |= {path: f"deleted or moved (noticed at {when})" for path in before - there if not path.exists()}
        self._gone = {path: why for path, why in self._gone.items() if path not in there}

    def _publish(self, made: ReportParts) -> None:
        """All or nothing: if building fails, the page stays as it is."""
        parts = made.page_parts()
        parts["nav"] = nav_html(parts)
        data = to_json(page_data(made.estimates))
        items = {key: to_json(value) for key, value in items_data(made.conditions).items()}
        version, old = self.page.version + 1, self.page.parts
        dated = {name: old[name] if name in old and old[name][1] == text else (version, text) for name, text in parts.items()}
        with self.changed:
            self.page = PageState(version, made.title, dated, data, items)
            self.changed.notify_all()

    def wait_for_news(self, after: int) -> str | None:
        """Whatever is new since a version, as soon as there is something; nothing after a while."""
        with self.changed:
            self.changed.wait_for(lambda: self.stopped or self.page.version > after, PATIENCE)
            page = self.page
        return page.news(after) if page.version > after else None

    def stop(self) -> None:
        with self.changed:
            self.stopped = True
            self.changed.notify_all()


def _is(one: object, other: object) -> bool:
    return one is other

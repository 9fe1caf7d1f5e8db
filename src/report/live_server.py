"""A live report served to browsers on this machine."""

import os
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from ..errors import UserError
from .live import Build, LiveReport
from .page import escape

PORT = 8008
LOOPBACK = ("127.0.0.1", "localhost")
SHORTEST = 1.0  # seconds between two checks of the folders
WAITING = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Concord</title></head>
<body><p>Waiting for the first probe: {why}</p><script>
(async () => {{ for (;;) {{ try {{ const answer = await fetch("update?after=0"); if (answer.status === 200) location.reload();
if (answer.status === 410) return; }} catch {{ await new Promise((done) => setTimeout(done, 5000)); }} }} }})();
</script></body></html>"""


class LiveServer(ThreadingHTTPServer):
    """Serves one report."""

    daemon_threads = True

    def __init__(self, live: LiveReport, host: str, port: int) -> None:
        super().__init__((host, port), Handler)
        self.live = live
        self.host = host

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.server_address[1]}/"


class Handler(BaseHTTPRequestHandler):
    """The page, the report it can be saved as, its items, and updates."""

    protocol_version = "HTTP/1.1"
    server: LiveServer

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        live, query = self.server.live, parse_qs(asked.query)
        if not self._is_for_us():
            self._answer("this address is not served", "text/plain", HTTPStatus.FORBIDDEN)
        elif asked.path == "/":
            self._answer(live.page.html(live=True) if live.page.version else WAITING.format(why=escape(live.trouble)))
        elif asked.path == "/report.html" and live.page.version:
            self._answer(live.page.html(live=False))
        elif asked.path == "/items":
            self._answer(live.page.items.get(query.get("key", [""])[0], "null"), "application/json")
        elif asked.path == "/update":
            self._update(query.get("after", ["0"])[0])
        else:  # browsers also ask for an icon
            self._answer("", "text/plain", HTTPStatus.NO_CONTENT if asked.path == "/favicon.ico" else HTTPStatus.NOT_FOUND)

    def _is_for_us(self) -> bool:
        """Refuse a foreign page that has pointed its own host name at this machine."""
        return self.server.host not in LOOPBACK or (self.headers.get("Host") or "").rpartition(":")[0] in LOOPBACK

    def _update(self, after: str) -> None:
        news = self.server.live.wait_for_news(int(after) if after.isdecimal() else 0)
        if self.server.live.stopped:
            self._answer("", "text/plain", HTTPStatus.GONE)
        elif news is None:
            self._answer("", "text/plain", HTTPStatus.NO_CONTENT)
        else:
            self._answer(news, "application/json")

    def _answer(self, text: str, kind: str = "text/html", status: HTTPStatus = HTTPStatus.OK) -> None:
        content = text.encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Cache-Control", "no-store")
            if status != HTTPStatus.NO_CONTENT:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        except ConnectionError:  # the page was closed
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Keep the terminal for what matters."""


def open_server(live: LiveReport, host: str, port: int | None) -> LiveServer:
    """At the requested port; otherwise at the default port, or any free one if that is taken."""
    try:
        return LiveServer(live, host, PORT if port is None else port)
    except (OSError, OverflowError) as error:
        if port is None and host in LOOPBACK:
            return LiveServer(live, host, 0)
        asked = f"--host {host} --port {PORT if port is None else port}"
        raise UserError(f"{asked}: the page cannot be served there: {error}; choose another port") from None


def serve(build: Build, host: str, port: int | None, tell: Callable[[str], None]) -> LiveReport:
    """Serve until Ctrl-C. After the first page training has priority: this uses idle time, at most a third of one core."""
    live = LiveReport(build)
    server = open_server(live, host, port)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    tell(f"live       {server.url}   (Ctrl-C to stop)")
    try:
        while True:
            started = time.monotonic()
            trouble = live.trouble
            if live.refresh():
                if live.page.version == 1:  # someone is waiting for the first page; after that, training has priority
                    os.nice(10)
                tell(f"page       version {live.page.version}, built in {time.monotonic() - started:.1f} s")
            elif live.trouble not in ("", trouble):
                tell(f"waiting    {live.trouble}")
            time.sleep(max(SHORTEST, 2 * (time.monotonic() - started)))
    except KeyboardInterrupt:
        live.stop()
        server.shutdown()
        server.server_close()
    return live

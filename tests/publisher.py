"""A server of our own in the part of those who publish corpora."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Publisher(ThreadingHTTPServer):
    """Serves files from memory by path; `faults` are played in turn, one a request, then everything is fine."""

    daemon_threads = True

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.files, self.version = files, '"one"'
        self.faults: list[str] = []
        self.requests: list[dict[str, str]] = []
        self.headers: dict[str, str] = {}  # sent along with every answer

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Answer(BaseHTTPRequestHandler):
    server: Publisher

    def do_GET(self) -> None:
        self.server.requests.append({"path": self.path, **dict(self.headers)})
        fault = self.server.faults.pop(0) if self.server.faults else ""
        path = "/" + self.path.split("://")[-1].partition("/")[2]  # a proxy is asked for the whole address
        content = self.server.files.get(path)
        if fault.isdigit() or content is None:
            self.send_response(int(fault or 404))
            self.send_header("Content-Length", "0")
            self._end()
        else:
            self._send(content, fault)

    def _send(self, content: bytes, fault: str) -> None:
        start = self._start()
        self.send_response(206 if start else 200)
        if self.server.version:
            self.send_header("ETag", self.server.version)
        if start:
            self.send_header("Content-Range", f"bytes {start + (fault == 'another part')}-{len(content) - 1}/{len(content)}")
        if fault != "chunked":
            self.send_header("Content-Length", str(len(content) - start))
        self._end()
        if fault in ("cut off", "stalled"):
            self.wfile.write(content[start : start + (150_000 if fault == "cut off" else 100_000)])
            self.wfile.flush()
            time.sleep(1 if fault == "stalled" else 0)
            return
        if fault == "drip":
            with suppress(ConnectionError):  # nobody listens any more
                for at in range(start, len(content)):
                    self.wfile.write(content[at : at + 1])
                    self.wfile.flush()
                    time.sleep(0.02)
            return
        step = 40_000 if fault == "slow" else len(content) or 1
        for at in range(start, len(content), step):
            self.wfile.write(content[at : at + step])
            time.sleep(0.03 if fault == "slow" else 0)

    def _end(self) -> None:
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _start(self) -> int:
        wanted = self.headers.get("Range", "")
        same = self.headers.get("If-Range") == self.server.version
        return int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and same else 0

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def published(files: dict[str, bytes]) -> Iterator[Publisher]:
    server = Publisher(files)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

"""A hub with one model, `some/bert`, at the addresses that huggingface_hub asks for."""

import contextlib
import functools
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"
MODEL = "/api/models/some/bert"


class Hub(BaseHTTPRequestHandler):
    def __init__(self, folder: Path, *arguments) -> None:
        self.folder = folder
        super().__init__(*arguments)

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        file = self.folder / Path(path).name
        if path in (MODEL, f"{MODEL}/revision/{COMMIT}", f"{MODEL}/revision/main"):
            self.answer(json.dumps({"id": "some/bert", "sha": COMMIT, "siblings": self.files("rfilename")}).encode())
        elif path.startswith(f"{MODEL}/tree/{COMMIT}"):
            self.answer(json.dumps(self.files("path")).encode())
        elif path.startswith(f"/some/bert/resolve/{COMMIT}/") and file.is_file():
            self.answer(file.read_bytes(), ETag=f'"{file.name}"', **{"X-Repo-Commit": COMMIT})
        else:
            missing = "RevisionNotFound" if path.startswith(f"{MODEL}/revision/") else "RepoNotFound"
            self.answer(b"", 404, **{"X-Error-Code": missing})

    def do_HEAD(self) -> None:
        self.do_GET()

    def files(self, key: str) -> list[dict[str, str | int]]:
        found = enumerate(sorted(self.folder.iterdir()))
        return [{"type": "file", key: f.name, "size": f.stat().st_size, "oid": f"{n:040x}"} for n, f in found]

    def answer(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_) -> None:
        """In silence."""


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of such a hub."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Hub, folder))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

"""A hub at the addresses that huggingface_hub asks for: one model, `some/bert`, or models with revisions."""

import contextlib
import functools
import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

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


class RevisionHub(Hub):
    """Models by name, each with the folders of its revisions. `asked` has the addresses of every GET."""

    def __init__(self, models: Mapping[str, Mapping[str, Path]], asked: list[str], *arguments) -> None:
        self.models, self.asked = models, asked
        super().__init__(Path(), *arguments)

    def do_GET(self) -> None:
        path = unquote(self.path.split("?")[0])
        if self.command == "GET":
            self.asked.append(path)
        for name, revisions in self.models.items():
            commits = {commit_of(name, revision): folder for revision, folder in revisions.items()}
            known = {**commits, **revisions}
            api, files = f"/api/models/{name}", f"/{name}/resolve/"
            if path == f"{api}/refs":
                listed = [{"name": r, "ref": f"refs/heads/{r}", "targetCommit": commit_of(name, r)} for r in revisions]
                return self.answer(json.dumps({"branches": listed, "tags": [], "converts": []}).encode())
            revision = path.removeprefix(f"{api}/revision/")
            if path.startswith(f"{api}/revision/") and revision in known:
                self.folder = known[revision]
                commit = revision if revision in commits else commit_of(name, revision)
                return self.answer(json.dumps({"id": name, "sha": commit, "siblings": self.listed("rfilename")}).encode())
            revision = path.removeprefix(f"{api}/tree/").split("/")[0]
            if path.startswith(f"{api}/tree/") and revision in known:
                self.folder = known[revision]
                return self.answer(json.dumps(self.listed("path")).encode())
            revision, _, file = path.removeprefix(files).rpartition("/")
            if path.startswith(files) and revision in known and (known[revision] / file).is_file():
                body = (known[revision] / file).read_bytes()
                content = content_hash(body) if file.endswith(".safetensors") else content_hash(body)[:40]
                commit = revision if revision in commits else commit_of(name, revision)
                return self.answer(body, ETag=f'"{content}"', **{"X-Repo-Commit": commit})
            if path.startswith((api, files)):
                return self.answer(b"", 404, **{"X-Error-Code": "RevisionNotFound"})
        return self.answer(b"", 404, **{"X-Error-Code": "RepoNotFound"})

    def listed(self, key: str) -> list[dict]:
        found = []
        for file in sorted(self.folder.iterdir()):
            size, content = file.stat().st_size, content_hash(file.read_bytes())
            entry = {"type": "file", key: file.name, "size": size, "blobId": content[:40], "oid": content[:40]}
            if file.suffix == ".safetensors":
                entry["lfs"] = {"sha256": content, "oid": content, "size": size, "pointerSize": 130}
            found.append(entry)
        return found


def content_hash(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def commit_of(name: str, revision: str) -> str:
    return hashlib.sha1(f"{name} {revision}".encode()).hexdigest()


@contextlib.contextmanager
def serving_revisions(models: Mapping[str, Mapping[str, Path]], asked: list[str]) -> Iterator[str]:
    """The address of a hub with these models."""
    with _serving(functools.partial(RevisionHub, models, asked)) as address:
        yield address


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of a hub with one model."""
    with _serving(functools.partial(Hub, folder)) as address:
        yield address


@contextlib.contextmanager
def _serving(handler) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

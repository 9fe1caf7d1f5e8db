"""A headless Chromium, spoken to through a pipe: nothing but the browser itself has to be installed."""

import base64
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe", "--no-first-run")


class Browser:
    """One page. Everything that goes wrong in it, and every request that it makes, is kept."""

    def __init__(self, profile: Path) -> None:
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.number = 0
        self.buffer = b""
        ours, theirs = os.pipe(), os.pipe()  # (read, write): to the browser, from the browser
        assert CHROMIUM is not None
        # Chromium reads its third descriptor and writes to its fourth; they are put there by a shell, whatever numbers we have.
        command = f'exec "$0" "$@" 3<&{ours[0]} 4>&{theirs[1]}'
        arguments = [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        self.process = subprocess.Popen(
            ["/bin/bash", "-c", command, *arguments],
            pass_fds=(ours[0], theirs[1]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(ours[0])
        os.close(theirs[1])
        self.to, self.by = ours[1], theirs[0]
        self.session = ""
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, timeout: float = 60, **parameters: Any) -> dict[str, Any]:
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters} | (
            {"sessionId": self.session} if self.session else {}
        )
        os.write(self.to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + timeout
        while time.monotonic() < until:
            found = self._next()
            if found.get("id") == self.number:
                assert "error" not in found, found["error"]
                return found["result"]
        raise TimeoutError(method)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.buffer:
            read = os.read(self.by, 1 << 20)
            assert read, "the browser is gone"
            self.buffer += read
        line, self.buffer = self.buffer.split(b"\0", 1)
        message: dict[str, Any] = json.loads(line)
        about = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(about["exceptionDetails"])[:500])
        elif message.get("method") == "Log.entryAdded" and about["entry"]["level"] == "error":
            self.errors.append(about["entry"]["text"])
        elif message.get("method") == "Runtime.consoleAPICalled" and about["type"] == "error":
            self.errors.append(json.dumps(about["args"])[:500])
        elif message.get("method") == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        return message

    def size(self, width: int, height: int, phone: bool = False) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)

    def dark(self, on: bool = True) -> None:
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def offline(self) -> None:
        self.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)

    def open(self, url: str) -> float:
        """Seconds until the page says that it is ready."""
        started = time.monotonic()
        self.call("Page.navigate", url=url)
        while self.run("document.documentElement?.dataset.ready") != "yes":
            assert time.monotonic() - started < 60, self.errors
            time.sleep(0.02)
        return time.monotonic() - started

    def run(self, script: str) -> Any:
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def mouse(self, kind: str, x: float, y: float) -> None:
        pressed = {"button": "left", "buttons": 1, "clickCount": 1} if kind != "mouseMoved" else {"buttons": 1}
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **pressed)

    def shot(self, file: Path, whole: bool = False) -> None:
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(found["data"]))

    def close(self) -> None:
        try:
            self.session = ""
            self.call("Browser.close", timeout=10)
            self.process.wait(timeout=10)
        except (OSError, AssertionError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.by)

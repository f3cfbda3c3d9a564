"""Headless Chromium for tests: told what to do by the DevTools protocol over a pipe."""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    None,
)
_FLAGS = (
    *(
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-sync",
    ),
    *(
        "--disable-background-networking",
        "--disable-component-update",
        "--remote-debugging-pipe",
    ),
)
# Chromium listens on file descriptor 3 and answers on 4.
_START = "import os, sys; r, w, *c = sys.argv[1:]; os.dup2(int(r), 3); os.dup2(int(w), 4); os.execvp(c[0], c)"


def wait_for(condition: Callable[[], Any]) -> Any:
    """What a condition gives as soon as it is true."""
    end = time.monotonic() + 60
    while not (value := condition()):
        assert time.monotonic() < end, "nothing came of it"
        time.sleep(0.02)
    return value


class Browser:
    """A page in headless Chromium, told what to do by the DevTools protocol over a pipe."""

    def __init__(self, program: str, profile: Path) -> None:
        (its_in, out), (in_, its_out) = os.pipe(), os.pipe()
        handed = [
            fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (its_in, its_out)
        ]
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                _START,
                *map(str, handed),
                program,
                *_FLAGS,
                f"--user-data-dir={profile}",
            ],
            pass_fds=handed,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        for end in (its_in, its_out, *handed):
            os.close(end)
        self._in, self._out = in_, out
        self._rest = b""
        self._calls = 0
        self._session: dict[str, str] = {}
        self._context: str | None = None
        self.events: list[dict[str, Any]] = []
        self.begin_anew()

    def begin_anew(self) -> None:
        """Show an empty page that knows nothing of what earlier pages have stored.

        Its storage is kept in memory: on a disk, what one process of Chromium writes is seen by
        another after a moment, or never.
        """
        self._session = {}
        if self._context is not None:
            self("Target.disposeBrowserContext", browserContextId=self._context)
        self._context = self("Target.createBrowserContext")["browserContextId"]
        target = self(
            "Target.createTarget", url="about:blank", browserContextId=self._context
        )
        attached = self(
            "Target.attachToTarget", targetId=target["targetId"], flatten=True
        )
        self._session = {"sessionId": attached["sessionId"]}
        for domain in ("Page", "Runtime", "Log", "Network"):
            self(f"{domain}.enable")

    def __call__(self, method: str, **params: Any) -> dict[str, Any]:
        self._calls += 1
        message = {
            "id": self._calls,
            "method": method,
            "params": params,
            **self._session,
        }
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while (answer := self._receive()).get("id") != self._calls:
            self.events.append(answer)
        assert "error" not in answer, (method, answer["error"])
        found: dict[str, Any] = answer["result"]
        return found

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._in], [], [], 60)[0], (
                "the browser does not answer"
            )
            block = os.read(self._in, 2**16)
            assert block, "the browser has gone"
            self._rest += block
        message, _, self._rest = self._rest.partition(b"\0")
        received: dict[str, Any] = json.loads(message)
        return received

    def open(self, path: Path, width: int = 1280, scheme: str = "light") -> None:
        """Show a file, and wait until it is there."""
        self(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=800,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        self(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        self.events.clear()
        self("Page.navigate", url=path.as_uri())
        while not self.seen("Page.loadEventFired"):
            self.events.append(self._receive())

    def seen(self, *methods: str) -> list[Any]:
        """What the page reported since it was opened."""
        return [event["params"] for event in self.events if event["method"] in methods]

    def js(self, code: str) -> Any:
        """The value of an expression."""
        answer = self("Runtime.evaluate", expression=code, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, *keys: str) -> None:
        codes = {
            "ArrowLeft": 37,
            "ArrowRight": 39,
            "Backspace": 8,
            "Tab": 9,
            "Enter": 13,
        }
        for key in keys:
            text = key if len(key) == 1 else "\r" if key == "Enter" else ""
            code = codes.get(key) or ord(key.upper())
            for kind in ("keyDown", "keyUp"):
                more = {"text": text} if kind == "keyDown" and text else {}
                self(
                    "Input.dispatchKeyEvent",
                    type=kind,
                    key=key,
                    windowsVirtualKeyCode=code,
                    **more,
                )

    def click(self, element: str) -> None:
        """Click in the middle of an element, given as an expression."""
        self.js(f"{element}.scrollIntoView({{block: 'center', inline: 'center'}})")
        x, y = self.js(
            f"(r => [r.x + r.width / 2, r.y + r.height / 2])({element}.getBoundingClientRect())"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self(
                "Input.dispatchMouseEvent",
                type=kind,
                x=x,
                y=y,
                button="left",
                clickCount=1,
            )

    def download_to(self, folder: Path) -> None:
        """Save what the page offers for download in a folder, without asking."""
        self(
            "Browser.setDownloadBehavior",
            behavior="allow",
            downloadPath=str(folder),
            browserContextId=self._context,
        )

    def nothing_went_wrong(self) -> None:
        """No error, no dialog, and nothing loaded but the file and what is inside it."""
        assert (
            self.seen(
                "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"
            )
            == []
        )
        assert self.seen("Page.javascriptDialogOpening") == []
        first, *others = (
            event["request"]["url"] for event in self.seen("Network.requestWillBeSent")
        )
        assert first.startswith("file://")
        assert all(url.startswith(("data:", "blob:")) for url in others)

    def close(self) -> None:
        try:
            self._session = {}
            self("Browser.close")
            self._process.wait(30)
        finally:
            if self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait(30)
            os.close(self._in)
            os.close(self._out)

"""Chromium without a window, spoken to over a pipe: the DevTools protocol, with no package."""

import json
import os
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import Any

CHROMIUM = which("chromium") or which("chromium-browser") or which("google-chrome")

FLAGS = (
    *("--headless", "--no-sandbox", "--remote-debugging-pipe", "--window-size=1500,950"),
    *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
)

PATIENCE = 150.0
"""Seconds after which a page does not come any more."""


class Page:
    """One page."""

    def __init__(self, read: int, write: int) -> None:
        self._read = read
        self._write = write
        self._number = 0
        self._waiting = b""
        self._session: str | None = None

    def open(self, address: str) -> None:
        """Load an address."""
        target = self._call("Target.createTarget", url=address)["targetId"]
        found = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = found["sessionId"]

    def evaluate(self, expression: str) -> Any:
        """The value of an expression of JavaScript."""
        found = self._call("Runtime.evaluate", expression=expression, returnByValue=True)
        return found["result"].get("value")

    def wait_for(self, text: str) -> str:
        """What the page says once it says `text`; an `AssertionError` if it never does."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            said = str(self.evaluate("document.body ? document.body.innerText : ''"))
            if text in said:
                return said
            time.sleep(0.25)
        raise AssertionError(f"the page never says {text!r}")

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {
            "id": self._number,
            "method": method,
            "params": parameters,
        }
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            pass
        assert "error" not in answer, answer
        return answer["result"]

    def _next(self) -> dict[str, Any]:
        """The next message; between two is a NUL."""
        while b"\0" not in self._waiting:
            more = os.read(self._read, 1 << 16)
            assert more, "chromium ended"
            self._waiting += more
        message, _, self._waiting = self._waiting.partition(b"\0")
        return json.loads(message)


@contextmanager
def chromium(home: Path) -> Generator[Page]:
    """A browser with its files in `home`, until the end of this `with` block."""
    assert CHROMIUM is not None
    commands, to_browser = os.pipe()
    from_browser, answers = os.pipe()
    # It reads commands from descriptor 3 and answers on 4; a plain shell has one digit for them.
    script = f'exec "$@" 3<&{commands} 4>&{answers}'
    words = ["bash", "-c", script, "bash", CHROMIUM, *FLAGS, f"--user-data-dir={home}"]
    with subprocess.Popen(
        [*words, "about:blank"],
        pass_fds=(commands, answers),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        os.close(commands)
        os.close(answers)
        try:
            yield Page(from_browser, to_browser)
        finally:
            process.terminate()
            os.close(from_browser)
            os.close(to_browser)

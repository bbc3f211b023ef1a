"""A headless Chromium for tests, driven over WebDriver: plain HTTP to the `chromedriver` of the system.

Without Chromium, tests that need it are skipped; PORTCHECK_BROWSER_TESTS=required makes that an error, as CI does.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import time
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

REQUIRED = "PORTCHECK_BROWSER_TESTS"
KEYS = {
    "Enter": "\ue007",
    "Escape": "\ue00c",
    "Tab": "\ue004",
    "Home": "\ue011",
    "End": "\ue010",
    "PageDown": "\ue00f",
    "Left": "\ue012",
    "Up": "\ue013",
    "Right": "\ue014",
    "Down": "\ue015",
    "Control": "\ue009",
}
_ARGUMENTS = (
    "--headless",
    "--no-sandbox",  # containers run as root
    "--disable-gpu",
    "--disable-dev-shm-usage",  # /dev/shm of a container is small
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # how WebDriver's JSON names an element


class WebDriverError(Exception):
    """What chromedriver answered instead of a value."""


def missing() -> str | None:
    """Why there is no browser here; None if there is one."""
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            return f"no {program} on the PATH; Debian and Ubuntu have it: apt-get install chromium chromium-driver"
    return None


class Browser:
    """One window of a Chromium."""

    def __init__(self, address: str, user_data: Path) -> None:
        self._address = address
        options = {
            "binary": shutil.which("chromium"),
            "args": [*_ARGUMENTS, f"--user-data-dir={user_data}", "--window-size=1400,900"],
            "perfLoggingPrefs": {"enableNetwork": True},
        }
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"performance": "ALL", "browser": "ALL"},
        }
        session = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._address += f"/session/{session['sessionId']}"

    def open(self, page: Path | str) -> None:
        """Load a page, and wait until it is loaded. A page that is open already is loaded anew."""
        self._ask("POST", "/url", {"url": "about:blank"})
        self._ask("POST", "/url", {"url": page if isinstance(page, str) else page.as_uri()})

    def run(self, script: str, *arguments: Any) -> Any:
        """What the body of a function returns; it may be a promise. `arguments` are its `arguments`."""
        return self._ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def text(self, selector: str) -> str:
        """What is written in the first element that `selector` finds, hidden or not."""
        return str(self.run("return document.querySelector(arguments[0]).textContent", selector))

    def texts(self, selector: str) -> list[str]:
        """What is written in every element that `selector` finds and that is shown."""
        script = (
            "return [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility()).map(e => e.innerText)"
        )
        return list(self.run(script, selector))

    def click(self, selector: str) -> None:
        """Click the first element that `selector` finds, as a user does: it has to be in sight."""
        self._ask("POST", f"/element/{self._find(selector)}/click", {})

    def fill(self, selector: str, value: str) -> None:
        """Write `value` into a field, or choose that of a list."""
        script = """
            const field = document.querySelector(arguments[0]);
            field.value = arguments[1];
            for (const name of ["input", "change"]) field.dispatchEvent(new Event(name, { bubbles: true }));
        """
        self.run(script, selector, value)

    def press(self, *keys: str) -> None:
        """Press keys, one after the other, on whatever has the focus: a name of `KEYS`, or text to write."""
        pressed = [KEYS.get(key, key) for key in keys]
        actions = [
            {"type": kind, "value": character} for key in pressed for character in key for kind in ("keyDown", "keyUp")
        ]
        self._ask("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def label(self, selector: str) -> tuple[str, str]:
        """Role and name of an element, as the browser tells them to a screen reader."""
        element = self._find(selector)
        role = self._ask("GET", f"/element/{element}/computedrole")
        return str(role), str(self._ask("GET", f"/element/{element}/computedlabel"))

    def devtools(self, command: str, **parameters: Any) -> Any:
        """A command of the DevTools protocol."""
        return self._ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def emulate(self, *, scheme: str = "light", media: str = "screen") -> None:
        """Prefer a colour scheme, and show the page as that medium does."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.devtools("Emulation.setEmulatedMedia", media=media, features=features)

    def resize(self, width: int, height: int) -> None:
        """Give the page this size."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.devtools("Emulation.setDeviceMetricsOverride", **size)

    def screenshot(self, path: Path) -> None:
        """What is in sight, as a PNG."""
        path.write_bytes(b64decode(self._ask("GET", "/screenshot")))

    def requests(self) -> list[str]:
        """The addresses that were asked for since this was asked last, but for those that a policy forbade."""
        entries = [json.loads(entry["message"])["message"] for entry in self._log("performance")]
        refused = {entry["params"]["requestId"] for entry in entries if entry["params"].get("blockedReason") == "csp"}
        sent = [entry["params"] for entry in entries if entry["method"] == "Network.requestWillBeSent"]
        return [request["request"]["url"] for request in sent if request["requestId"] not in refused]

    def complaints(self) -> list[str]:
        """What the console has of errors and warnings since this was asked last: violated policies, too."""
        return [entry["message"] for entry in self._log("browser")]

    def quit(self) -> None:
        """Close the window."""
        self._ask("DELETE", "")

    def _log(self, kind: str) -> Any:
        return self._ask("POST", "/se/log", {"type": kind})

    def _find(self, selector: str) -> str:
        found = self._ask("POST", "/element", {"using": "css selector", "value": selector})
        return str(found[_ELEMENT])

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = Request(self._address + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except HTTPError as error:
            told = json.load(error)["value"]
            raise WebDriverError(f"{told['error']}: {told['message']}") from None


@contextlib.contextmanager
def started(folder: Path) -> Iterator[Browser]:
    """A browser with an empty profile in `folder`. Nothing of it is left at the end."""
    log = folder / "chromedriver.log"
    with log.open("wb") as output:
        driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=output, stderr=subprocess.STDOUT, env=_offline())
    try:
        browser = Browser(f"http://127.0.0.1:{_port(driver, log)}", folder / "profile")
        try:
            yield browser
        finally:
            browser.quit()
    finally:
        driver.terminate()
        driver.wait(timeout=10)


def _offline() -> dict[str, str]:
    """No proxy stands between chromedriver and its Chromium."""
    return {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}


def _port(driver: subprocess.Popen[bytes], log: Path) -> str:
    """The port on loopback that chromedriver found for itself."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and driver.poll() is None:
        if found := re.search(r"started successfully on port (\d+)", log.read_text()):
            return found[1]
        time.sleep(0.02)
    raise WebDriverError(f"chromedriver did not start: {log.read_text()}")

"""Makes the pictures of the Temporal UI for the documentation: a run that waits at its gate.

It starts a stage of its own on a temporary folder, and Chromium, which is expected on the PATH.
"""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from child_process import StopRequest, StopRequested, complain, run_command, say
from seeding.errors import ClientError
from seeding.model import JsonObject
from server import Ports, dev_server, free_port
from worker import GRAPHS, stage_worker, worker_environment

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PAGE = {"width": 1440, "height": 830, "deviceScaleFactor": 1280 / 1440, "mobile": False}
"""The page is laid out 1,440 wide, where the UI needs no scroll bar, and saved 1,280 wide."""

PATIENCE = 60.0
"""Seconds the page has to show what it is photographed for."""

SETTLING = 2.0
"""Seconds after which everything around it stands still too."""

_WITH_PIPES = """
import os, sys
# Out of the way first: one of the two may be 3 or 4 itself.
os.dup2(int(sys.argv[1]), 1003)
os.dup2(int(sys.argv[2]), 1004)
os.dup2(1003, 3)
os.dup2(1004, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Becomes the browser, which reads its commands from descriptor 3 and answers on 4."""

PICTURES = {
    "temporal-ui.png": ("user-metadata", "--name resume"),
    "temporal-ui-search-attributes.png": ("search-attributes", "OpenTickets"),
}
"""The tab of a run's page that each picture shows, and a text by which it is complete."""

START = (
    *("start", "alice", "expense-review", "--message", "please check these"),
    *("--input", "items.value=[50, 150, 80]", "--watch", "--json"),
)
TEXT_OF_PAGE = """
[document, ...Array.from(document.querySelectorAll("iframe"), frame => frame.contentDocument)]
    .map(part => part?.body?.innerText ?? "").join(" ")
"""
"""The UI shows Markdown in frames of its own."""


class Browser:
    """A headless Chromium, spoken to through a pair of pipes."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands = os.fdopen(commands, "wb", buffering=0)
        self._answers = os.fdopen(answers, "rb")
        self._count = 0

    def call(self, method: str, session: str | None = None, **parameters: object) -> JsonObject:
        """Send one command of the DevTools protocol and return its result.

        Raises:
            ClientError: The browser refused it, or is gone.
        """
        self._count += 1
        message: JsonObject = {"id": self._count, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        self._commands.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._count:
                if "result" not in answer:
                    raise ClientError(f"the browser refused {method}: {answer.get('error')}")
                return answer["result"]

    def _next(self) -> JsonObject:
        text = bytearray()
        while (byte := self._answers.read(1)) not in (b"\0", b""):
            text += byte
        if not byte:
            raise ClientError("the browser ended")
        return json.loads(text)


@contextmanager
def open_browser(profile: Path) -> Generator[Browser]:
    """Run a browser with a profile of its own while the block runs.

    Raises:
        ClientError: There is none.
    """
    found = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if found is None:
        raise ClientError(f"none of {', '.join(BROWSERS)} is on the PATH; install Chromium")
    its_commands, our_commands = os.pipe()
    our_answers, its_answers = os.pipe()
    command = [
        found,
        *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
        *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
        f"--user-data-dir={profile}",
        f"--window-size={PAGE['width']},{PAGE['height']}",
        "--remote-debugging-pipe",
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", _WITH_PIPES, str(its_commands), str(its_answers), *command],
        pass_fds=(its_commands, its_answers),
        stderr=subprocess.DEVNULL,
    )
    os.close(its_commands)
    os.close(its_answers)
    try:
        yield Browser(our_commands, our_answers)
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)


def photograph(browser: Browser, address: str, awaited: str) -> bytes:
    """Return the picture of a page, as PNG, once it shows a text.

    Raises:
        ClientError: It never did.
    """
    target = browser.call("Target.createTarget", url=address)
    attached = browser.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
    session: str = attached["sessionId"]
    browser.call("Emulation.setDeviceMetricsOverride", session, **PAGE)
    deadline = time.monotonic() + PATIENCE
    while awaited not in _text_of_page(browser, session):
        if time.monotonic() > deadline:
            raise ClientError(f"{address} never showed {awaited!r}")
        time.sleep(0.5)
    time.sleep(SETTLING)
    picture = browser.call("Page.captureScreenshot", session, format="png")
    return base64.b64decode(picture["data"])


def _text_of_page(browser: Browser, session: str) -> str:
    found = browser.call("Runtime.evaluate", session, expression=TEXT_OF_PAGE)
    return str(found["result"].get("value", ""))


def start_run(environment: Mapping[str, str], stop: StopRequest) -> str:
    """Start the run that is photographed, wait until it waits, and return its id.

    Raises:
        ClientError: It does not wait.
    """
    command = [sys.executable, "-m", "client.command", *START]
    answer = run_command(command, environment=environment, stop=stop, timeout=PATIENCE)
    if answer.returncode != 0:
        raise ClientError(f"the run could not be started: {answer.stderr.strip()}")
    return json.loads(answer.stdout)["runId"]


def main(folder: Path, home: Path) -> None:
    """Start a stage on ``home`` and a run that pauses; save the pictures of its page."""
    stop = StopRequest()
    stop.listen()
    with dev_server(home, Ports(free_port(), free_port()), stop) as server:
        environment = {
            **worker_environment(server, home),
            "FERMATA_NODES": "sample_nodes",
            "FERMATA_GRAPHS": str(GRAPHS),
            "FERMATA_LOG_URL": f"sqlite:///{home / 'log.db'}",
            "FERMATA_TASK_QUEUE": "fermata",
        }
        with (
            stage_worker(server, environment, stop, on_line=lambda line: None),
            open_browser(home / "profile") as browser,
        ):
            run = f"thread%2Falice/{start_run(environment, stop)}"
            for name, (tab, awaited) in PICTURES.items():
                page = f"{server.ui_address}/namespaces/default/workflows/{run}/{tab}"
                (folder / name).write_bytes(photograph(browser, page, awaited))
                say(f"saved {folder / name}")


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        complain("usage: python temporal-dev/picture.py FOLDER")
        sys.exit(2)
    try:
        with tempfile.TemporaryDirectory(prefix="fermata-picture-") as temporary:
            main(Path(sys.argv[1]), Path(temporary))
    except StopRequested:
        sys.exit(1)
    except ClientError as error:
        complain(f"picture: {error.code}: {error}")
        sys.exit(1)

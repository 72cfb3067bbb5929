"""A browser that looks at a real ``zonda serve``, as people do.

Needs Playwright, axe-core and a chromium; where they are not installed, the tests are skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import absent

HOW = "pip install 'zonda[browser]' and apt-get install chromium"
PATIENCE = 120.0
PLUGIN = Path(__file__).parents[1] / "acceptance" / "plugins" / "thing.py"
#: The switches of chromium: it runs in a container and asks nothing of the internet.
SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)


@dataclass
class Server:
    """A server with tokens. ``things``: the folder of what ``Test::Thing`` makes."""

    url: str
    home: Path
    things: Path
    process: subprocess.Popen[str]
    tokens: dict[str, str] = field(default_factory=dict)

    def run(self, *words: str) -> str:
        """The output of a command in the home of the server."""
        environ = {**os.environ, "ZONDA_HOME": str(self.home)}
        command = [sys.executable, "-P", "-m", "zonda", *words]
        done = subprocess.run(
            command, env=environ, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def make_token(self, user: str, project: str) -> str:
        """A token of a member."""
        words = ("token", "create", user, "--project", project)
        token = self.tokens[user] = self.run(*words).strip().split()[-1]
        return token

    def send(self, method: str, path: str, body: Any = None, project: str = "p1") -> Any:
        """The answer of Heat's API."""
        headers = {"Content-Type": "application/json", "X-Auth-Token": self.tokens["ann"]}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/v1/{project}{path}", data, headers)
        request.method = method
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
            text = reply.read()
        return json.loads(text) if text else None

    def signal(self, stack: str, resource: str) -> None:
        """Signal a handle."""
        place = self.send("GET", f"/stacks/{stack}")["stack"]["links"][0]["href"]
        path = place.partition("/v1/p1")[2]
        self.send("POST", f"{path}/resources/{resource}/signal", {"status": "SUCCESS"})

    def set_thing(self, name: str, **values: Any) -> None:
        """Change a thing by hand."""
        file = self.things / f"{name}.json"
        file.write_text(json.dumps({**json.loads(file.read_text()), **values}))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for all tests; each has stacks of its own names."""
    folder = tmp_path_factory.mktemp("server")
    home, things = folder / "home", folder / "things"
    things.mkdir()
    (home / "plugins").mkdir(parents=True)
    shutil.copy(PLUGIN, home / "plugins")
    environ = {**os.environ, "ZONDA_HOME": str(home), "ZONDA_IDENTITY": "tokens"}
    words = ("serve", "--ready", "ready", "--address", "127.0.0.1:0")
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "zonda", *words],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=environ,
        )
    assert process.stdout is not None
    line = process.stdout.readline()
    said = (folder / "log").read_text()
    assert line == "ready\n", said
    url = said.partition("zonda at ")[2].partition(";")[0]
    made = Server(url, home, things, process)
    made.make_token("ann", "p1")
    yield made
    process.terminate()
    process.communicate(timeout=PATIENCE)


@pytest.fixture(scope="module")  # no longer: while Playwright runs, asyncio.run() is refused
def chromium() -> Iterator[Any]:
    """The browser; where there is none the test is skipped, and in the CI it fails."""
    program = shutil.which("chromium")
    try:
        import axe_playwright_python  # noqa: F401 (with which pages are checked)
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        absent(f"{error.name} is not installed: {HOW}", "ZONDA_BROWSER_TESTS")
    if program is None:
        absent(f"chromium is not installed: {HOW}", "ZONDA_BROWSER_TESTS")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=SWITCHES)
        yield browser
        browser.close()


@dataclass
class Browser:
    """Opens windows, and keeps what their consoles complain about."""

    chromium: Any
    server: Server
    complaints: list[str] = field(default_factory=list)

    @contextmanager
    def open_window(self, **options: Any) -> Iterator[Any]:
        """A window without cookies, on the page where one signs in."""
        context = self.chromium.new_context(base_url=self.server.url, **options)
        context.set_default_timeout(PATIENCE * 1000)
        page = context.new_page()
        page.on("console", self._keep)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto("/ui/")
        yield page
        context.close()

    def expect(self, text: str) -> None:
        """Expect a complaint: chromium tells the console of each answer that is an error.

        It may stand there more than once: on a slow machine a page asks again before it is left.
        """
        others = [each for each in self.complaints if text not in each]
        assert len(others) < len(self.complaints), self.complaints
        self.complaints[:] = others

    def _keep(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.text} {message.location.get('url', '')}")


@pytest.fixture
def browser(chromium: Any, server: Server) -> Iterator[Browser]:
    """A browser whose console stays empty."""
    made = Browser(chromium, server)
    yield made
    assert made.complaints == []


def sign_in(page: Any, server: Server, user: str = "ann") -> None:
    """Sign in with a token."""
    page.get_by_label("Token").fill(server.tokens[user])
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Sign out").wait_for()


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Any]:
    """A window of somebody who has signed in."""
    with browser.open_window(viewport={"width": 1440, "height": 900}) as opened:
        sign_in(opened, server)
        yield opened


@pytest.fixture
def check_page() -> Callable[[Any], None]:
    """Check what axe-core has to say of a page, and that nothing is wider than the window."""
    from axe_playwright_python.sync_playwright import Axe

    axe = Axe()

    def check(page: Any) -> None:
        found = axe.run(page).response["violations"]
        said = [(each["id"], [node["target"] for node in each["nodes"]]) for each in found]
        assert said == [], page.url
        sizes = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert sizes[0] <= sizes[1], page.url

    return check

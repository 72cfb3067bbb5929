"""``-t https://...``: templates and environments at an address."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

Zonda = Callable[..., Any]

FILES = {
    "/lib/web.yaml": """
heat_template_version: 2018-08-31
parameters: {size: {type: number, constraints: [{range: {max: 9}}]}}
resources:
  child: {type: child.yaml}
outputs:
  note: {value: {get_file: note.txt}}
  child: {value: {get_attr: [child, word]}}
  size: {value: {get_param: size}}
""",
    "/lib/child.yaml": """
heat_template_version: 2018-08-31
outputs: {word: {value: inside}}
""",
    "/lib/note.txt": "a note",
    "/env/live.yaml": "parameters: {size: 3}\n",
    "/bad.yaml": "heat_template_version: 2018-08-31\nresources: {a: {type: OS::No::Such}}\n",
    "/bytes": b"\xff\xfe",
    "/spy.yaml": "heat_template_version: 2018-08-31\n"
    "outputs: {o: {value: {get_file: 'file:///etc/hostname'}}}\n",
}


class Handler(BaseHTTPRequestHandler):
    """Serves FILES."""

    def do_GET(self) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        if self.path == "/moved/web.yaml":
            self.send_response(302)
            self.send_header("Location", "/lib/web.yaml")
            self.end_headers()
            return
        content = FILES.get(self.path)
        body = content.encode() if isinstance(content, str) else content or b""
        self.send_response(200 if content else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Any]:
    """A server on this machine; ``asked`` are the paths that it was asked for."""
    made: Any = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.asked = []
    made.url = f"http://127.0.0.1:{made.server_port}"
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


ANY = ("--set", "allow_remote_files=any")


@pytest.mark.parametrize("path", ["/lib/web.yaml", "/moved/web.yaml"])
def test_a_stack_is_made_of_a_template_at_an_address(zonda: Zonda, server: Any, path: str) -> None:
    given = ("-t", server.url + path, "-e", f"{server.url}/env/live.yaml", *ANY)

    zonda("template", "validate", *given)
    zonda("stack", "create", "s", *given)
    zonda("stack", "update", "s", *given, "-P", "size=4", "--plan", "-y")

    shown = zonda("stack", "output", "show", "s", "--all", "-f", "json").data
    values = {name: entry["output_value"] for name, entry in shown.items()}
    assert values == {"note": "a note", "child": "inside", "size": 4}


@pytest.mark.parametrize("option", ["-t", "-e"])
def test_without_allow_remote_nothing_is_asked_for_and_the_option_is_named(
    zonda: Zonda, server: Any, option: str, write: Callable[[str, str], Path]
) -> None:
    here = write("t.yaml", "heat_template_version: 2018-08-31\n")
    said = zonda("stack", "create", "s", "-t", here, option, f"{server.url}/lib/web.yaml", code=2)
    assert (
        f"{server.url}/lib/web.yaml is on the network: allow that with --allow-remote" in said.err
    )
    assert server.asked == []


@pytest.mark.parametrize(
    ("path", "options", "said"),
    [
        pytest.param("/lib/web.yaml", ("--allow-remote",), "is not public", id="this machine"),
        pytest.param("/nothing", ANY, "the server answers 404", id="not there"),
        pytest.param("/bytes", ANY, "is not text in UTF-8", id="no text"),
        pytest.param("/spy.yaml", ANY, "cannot name file files", id="names a file of ours"),
    ],
)
def test_an_address_that_cannot_be_used_is_one_error(
    zonda: Zonda, server: Any, tmp_path: Path, path: str, options: tuple[str, ...], said: str
) -> None:
    done = zonda("stack", "create", "s", "-t", server.url + path, *options, code=2)
    assert said in done.err
    assert not (tmp_path / "home").exists()


def test_a_fault_of_a_template_at_an_address_has_its_place(zonda: Zonda, server: Any) -> None:
    said = zonda("stack", "create", "s", "-t", f"{server.url}/bad.yaml", *ANY, code=2).err
    assert f"{server.url}/bad.yaml:2:17: error: The Resource Type (OS::No::Such)" in said


def test_a_password_in_an_address_is_refused_and_not_repeated(zonda: Zonda, server: Any) -> None:
    url = server.url.replace("//", "//ann:s3cret@")
    said = zonda("stack", "create", "s", "-t", f"{url}/lib/web.yaml", *ANY, code=2).err
    assert "An address with a name or a password" in said
    assert "s3cret" not in said
    assert server.asked == []

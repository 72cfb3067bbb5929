"""``zonda cloud check`` against a small cloud: one service, and a token that expires."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("zonda_heat_compat", reason="pip install contrib/zonda-heat-compat")
try:
    version("openstack-heat")
except PackageNotFoundError:
    if os.environ.get("HEAT_COMPAT_OPENSTACK_TESTS") == "required":
        raise
    pytest.skip("pip install 'contrib/zonda-heat-compat[openstack]'", allow_module_level=True)

COMMAND = """
import sys
from zonda.core.cli.main import main
print("exit", main(sys.argv[1:]))
"""
CLOUDS = """
clouds:
  mine:
    auth_type: v3applicationcredential
    auth:
      auth_url: "{url}/v3"
      application_credential_id: abc
      application_credential_secret: {secret}
    region_name: North
"""


class Cloud(ThreadingHTTPServer):
    """Keystone, Nova and nothing else. The first token is refused by Nova when it is used."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.tokens: list[dict[str, Any]] = []
        self.asked: list[str] = []


class Handler(BaseHTTPRequestHandler):
    server: Cloud

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        url = self.server.url
        links = [{"rel": "self", "href": f"{url}/compute/v2.1"}]
        if self.path.startswith("/compute/v2.1/flavors"):
            expired = self.headers["X-Auth-Token"] == "token-1"
            self.answer(401 if expired else 200, {"flavors": []})
        elif self.path.startswith("/compute"):
            one = {"id": "v2.1", "status": "CURRENT", "links": links}
            self.answer(200, {"version": {**one, "version": "2.96", "min_version": "2.1"}})
        else:
            one = {
                "id": "v3.14",
                "status": "stable",
                "links": [{"rel": "self", "href": f"{url}/v3"}],
            }
            self.answer(200, {"version": one})

    def do_POST(self) -> None:
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.tokens.append(given)
        if given["auth"]["identity"]["application_credential"]["secret"] != "right":
            self.answer(401, {"error": {"message": "The request needs authentication."}})
            return
        where = {"interface": "public", "region": "North", "region_id": "North"}
        domain = {"id": "default", "name": "Default"}
        token = {
            "methods": ["application_credential"],
            "expires_at": "2999-01-01T00:00:00.000000Z",
            "issued_at": "2020-01-01T00:00:00.000000Z",
            "user": {"id": "u", "name": "ann", "domain": domain},
            "project": {"id": "0" * 32, "name": "team", "domain": domain},
            "roles": [{"id": "r", "name": "member"}],
            "catalog": [
                {
                    "type": "compute",
                    "name": "nova",
                    "endpoints": [{**where, "url": f"{self.server.url}/compute/v2.1"}],
                }
            ],
        }
        number = len(self.server.tokens)
        self.answer(201, {"token": token}, {"X-Subject-Token": f"token-{number}"})

    def answer(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(text))}.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *given: Any) -> None:
        """Say nothing."""


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with Cloud() as served:
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        yield served
        served.shutdown()
        thread.join()


def check(tmp_path: Path, cloud: Cloud, secret: str = "right") -> tuple[int, dict[str, list[str]]]:
    (tmp_path / "clouds.yaml").write_text(CLOUDS.format(url=cloud.url, secret=secret))
    known = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "cloud", "check", "mine", "-f", "json"],
        capture_output=True,
        text=True,
        check=False,
        env={
            **known,
            "ZONDA_HOME": str(tmp_path / "home"),
            "OS_CLIENT_CONFIG_FILE": str(tmp_path / "clouds.yaml"),
        },
        timeout=300,
    )
    assert secret not in done.stdout + done.stderr
    said, _, code = done.stdout.rpartition("exit ")
    rows = json.loads(said)
    return int(code), {row["Asked"]: [row["Verdict"], row["How"]] for row in rows}


def test_each_service_is_told_and_a_token_is_renewed(tmp_path: Path, cloud: Cloud) -> None:
    code, rows = check(tmp_path, cloud)
    assert code == 0
    verdict, how = rows["credentials"]
    assert verdict == "works"
    assert how == (
        f"v3applicationcredential: user ann, project team ({'0' * 32}), region North, roles member"
    )
    assert rows["compute"] == ["works", f"nova: {cloud.url}/compute/v2.1"]
    assert rows["dns"] == ["absent", "designate: not in the catalogue of the cloud"]
    assert len(cloud.tokens) == 2, "the first one was refused, and another one asked for"
    assert cloud.asked.count("/compute/v2.1/flavors?limit=1") == 2


def test_credentials_that_are_refused_are_all_that_is_told(tmp_path: Path, cloud: Cloud) -> None:
    code, rows = check(tmp_path, cloud, secret="wrong-one")
    assert code == 1
    assert list(rows) == ["credentials"]
    assert rows["credentials"][0] == "fails"
    assert "The request needs authentication." in rows["credentials"][1]

"""A count of the things in the cloud, and zonda, for the tests and scripts of this folder."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Self

#: The port in admin.yaml.
BLOB_PORT = 8990
KINDS = {
    "compute": ("servers", "keypairs", "server_groups", "aggregates", "flavors"),
    "network": (
        *("networks", "subnets", "routers", "ports", "ips", "security_groups", "trunks"),
        *("qos_policies", "rbac_policies", "address_scopes", "subnet_pools", "segments"),
    ),
    "block_storage": ("volumes", "types"),
    "identity": ("projects", "users", "roles", "groups", "services", "endpoints", "domains"),
    "image": ("images",),
    "key_manager": ("secrets", "containers", "orders"),
}


def list_things(cloud: str) -> set[tuple[str, str]]:
    """List the resources of the project, and those of none, by kind and id."""
    import openstack

    connection = openstack.connect(cloud=cloud)
    own = (None, "", connection.current_project_id)
    found = set()
    for service, kinds in KINDS.items():
        for kind in kinds:
            try:
                things = list(getattr(getattr(connection, service), kind)())
            except openstack.exceptions.ForbiddenException:
                continue
            # A project's default security group comes with its first port, and stays.
            found |= {
                (kind, each.id)
                for each in things
                if each.name != "default" and getattr(each, "project_id", None) in own
            }
    return found


class _Handler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *given: object) -> None:
        """Nobody reads it."""


@contextmanager
def serve_blob(folder: Path) -> Iterator[None]:
    """Serve the image on loopback that WebImage of admin.yaml loads."""
    folder.mkdir(exist_ok=True)
    (folder / "blob").write_bytes(bytes(65536))
    handler = partial(_Handler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", BLOB_PORT), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()


def run_zonda(home: Path, cloud: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command of zonda to its end."""
    return subprocess.run(
        [sys.executable, "-m", "zonda", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "ZONDA_HOME": str(home), "OS_CLOUD": cloud},
        timeout=600,
    )


class Service:
    """A service that speaks Heat's API, started for the time of a ``with``."""

    def __init__(self, folder: Path, cloud: str = "demo") -> None:
        self._folder, self._cloud = folder, cloud
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]

    def _list_words(self) -> list[str]:
        """The command; it prints a line with "serves" once it listens."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        self.process = subprocess.Popen(
            [sys.executable, *self._list_words()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "OS_CLOUD": self._cloud},
        )
        assert self.process.stdout is not None
        if "serves" not in self.process.stdout.readline():
            raise SystemExit(f"{type(self).__name__} does not start: see {self._folder}")
        import openstack

        connection = openstack.connect(cloud=self._cloud)
        self._session, project = connection.session, connection.current_project_id
        self._url = f"http://127.0.0.1:{self._port}/v1/{project}/stacks"
        return self

    def __exit__(self, *error: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(60)

    def create(self, name: str, template: Path, files: Mapping[str, str] | None = None) -> None:
        """Make a stack, and wait for its end."""
        body = {
            "stack_name": name,
            "template": template.read_text(),
            "files": dict(files or {}),
            "timeout_mins": 20,
        }
        self._session.post(self._url, json=body)
        self.wait_for(name, "CREATE_COMPLETE")

    def delete(self, name: str) -> None:
        """Remove a stack, and wait until it is gone."""
        self._session.delete(f"{self._url}/{name}/{self._show(name)['id']}")
        self.wait_for(name, "DELETE_COMPLETE")

    def abandon(self, name: str) -> Any:
        """Have Heat forget a stack; its description."""
        return self._session.delete(f"{self._url}/{name}/{self._show(name)['id']}/abandon").json()

    def _show(self, name: str) -> Any:
        return self._session.get(f"{self._url}/{name}").json()["stack"]

    def wait_for(self, name: str, wanted: str) -> None:
        """Wait for a status; a failure ends it."""
        from keystoneauth1.exceptions import NotFound

        while True:
            try:
                found = self._show(name)
            except NotFound:
                return
            if found["stack_status"] == wanted:
                return
            if found["stack_status"].endswith("FAILED"):
                raise SystemExit(f"{found['stack_status']}: {found['stack_status_reason']}")
            time.sleep(0.5)


class Heat(Service):
    """Real Heat, its API and its engine in one process, which ends with its input."""

    def _list_words(self) -> list[str]:
        script = Path(__file__).parent / "real_heat.py"
        return [str(script), str(self._folder), str(self._port)]


class Zonda(Service):
    """``zonda serve``: the same of zonda."""

    def _list_words(self) -> list[str]:
        where = ["--home", str(self._folder), "--address", f"127.0.0.1:{self._port}"]
        return ["-m", "zonda", "serve", *where, "--ready", "zonda serves"]

    def __exit__(self, *error: object) -> None:
        self.process.terminate()
        super().__exit__(*error)

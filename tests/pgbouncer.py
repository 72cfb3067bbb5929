"""PgBouncer before the PostgreSQL of the tests, in transaction mode: Debian's package."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.postgresql_server import PostgreSQL

ABSENT = "no pgbouncer: apt-get install pgbouncer"
#: As whom it runs where the tests run as root, which it refuses: who owns the server's socket.
USER = "embedded_postgres"


@contextmanager
def run_pgbouncer(server: PostgreSQL, folder: Path) -> Iterator[PostgreSQL]:
    """The same server through a pooler; skips where there is none."""
    import psycopg

    program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        if os.environ.get("ZONDA_PGBOUNCER_TESTS") == "required":
            pytest.fail(ABSENT)
        pytest.skip(ABSENT)
    known = psycopg.conninfo.conninfo_to_dict(server.url)
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    names = ("host", "port", "user", "password")
    where = " ".join(f"{name}={known[name]}" for name in names if known.get(name))
    (folder / "pgbouncer.ini").write_text(
        f"[databases]\n* = {where}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n"
        "auth_type = any\npool_mode = transaction\nunix_socket_dir =\nmax_client_conn = 500\n"
        "default_pool_size = 20\n"
    )
    folder.chmod(0o755)
    as_user = ["-u", USER] if os.getuid() == 0 else []
    with open(folder / "pgbouncer.log", "w") as log:
        process = subprocess.Popen(
            [program, *as_user, str(folder / "pgbouncer.ini")], stdout=log, stderr=log
        )
        try:
            through = PostgreSQL(f"postgresql://postgres@127.0.0.1:{port}/postgres")
            _wait(through, process, folder / "pgbouncer.log")
            yield through
        finally:
            process.terminate()
            process.wait(30)


def _wait(server: PostgreSQL, process: subprocess.Popen[bytes], log: Path) -> None:
    import psycopg

    while process.poll() is None:
        try:
            server.execute("SELECT 1")
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(log.read_text())

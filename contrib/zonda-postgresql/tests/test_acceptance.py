"""The installed package, the real command line, a real PostgreSQL, and a template.

The template also takes zonda-files from beside this package; where it is not, they are skipped.
"""

from __future__ import annotations

import configparser
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PACKAGE = Path(__file__).resolve().parent.parent
TEMPLATE = PACKAGE / "examples" / "app-database.yaml"
MINUTES = 240.0


@pytest.fixture(scope="session")
def files_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with zonda-files, which the template also takes, and nothing else."""
    folder = tmp_path_factory.mktemp("files")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(folder)]
    source = PACKAGE.parent / "zonda-files"
    if not source.is_dir():
        pytest.skip(f"no zonda-files beside {PACKAGE}")
    subprocess.run([*pip, str(source)], check=True, cwd=folder, capture_output=True)
    return folder


class Zonda:
    """The command line, with a home of its own."""

    def __init__(self, packages: Path, home: Path, parameters: dict[str, Any]) -> None:
        self._home = home
        self.parameters = parameters
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "PYTHONPATH": str(packages),
            "ZONDA_HOME": str(home / "zonda"),
            "XDG_STATE_HOME": str(home / "state"),
        }
        self.said = ""

    def command(self, *words: str) -> list[str]:
        """The words of a command."""
        return [sys.executable, "-m", "zonda", *words]

    def __call__(self, *words: str, code: int = 0) -> str:
        done = subprocess.run(
            self.command(*words),
            env=self.environment,
            cwd=self._home,
            capture_output=True,
            text=True,
            timeout=MINUTES,
        )
        self.said += done.stdout + done.stderr
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def words(self, action: str, **changes: Any) -> list[str]:
        """``stack create`` or ``stack update`` with the template."""
        parameters = {**self.parameters, **changes}
        pairs = [f"--parameter={key}={value}" for key, value in parameters.items()]
        return ["stack", action, "shop", "-t", str(TEMPLATE), *pairs]

    def resource(self, name: str) -> dict[str, Any]:
        """What ``stack resource show`` says."""
        shown = self("stack", "resource", "show", "shop", name, "-f", "json")
        return dict(json.loads(shown))


@pytest.fixture
def zonda(files_folder: Path, postgres: Any, world: Any, tmp_path: Path) -> Iterator[Zonda]:
    """The command line, ready to create the stack."""
    settings = postgres.settings
    parameters = {
        "pg_host": settings["host"],
        "pg_port": settings.get("port", 5432),
        "pg_user": settings["user"],
        "pg_password": settings.get("password", ""),
        "name": f"zt_{os.getpid()}_{tmp_path.name.lower()[-12:]}".replace("-", "_"),
        "config_file": tmp_path / "app.ini",
    }
    made = Zonda(files_folder, tmp_path, parameters)
    yield made
    name = parameters["name"]
    postgres.rows(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    postgres.rows(f"DROP ROLE IF EXISTS {name}_app")


def config(zonda: Zonda) -> dict[str, str]:
    """What the program would read."""
    parser = configparser.RawConfigParser()
    parser.read(zonda.parameters["config_file"])
    return dict(parser["database"])


def is_left(postgres: Any, zonda: Zonda) -> list[Any]:
    """What of the stack is still there."""
    name = zonda.parameters["name"]
    rows = postgres.rows(
        "SELECT datname FROM pg_database WHERE datname = %s OR datname LIKE 'zonda\\_%%' "
        "UNION SELECT rolname FROM pg_roles WHERE rolname = %s",
        name,
        f"{name}_app",
    )
    files = list(Path(zonda.parameters["config_file"]).parent.glob("*app.ini*"))
    return [*rows, *files]


def test_a_database_a_role_grants_and_a_file_through_their_life(
    postgres: Any, zonda: Zonda
) -> None:
    name = zonda.parameters["name"]
    listed = zonda("plugin", "list")
    assert "zonda-postgresql" in listed
    assert "zonda-files" in listed

    zonda(*zonda.words("create"))
    first = config(zonda)
    assert postgres.logs_in(first["user"], first["password"], name)
    postgres.rows("CREATE TABLE app.orders (id int)", database=name)
    with postgres.connect(name, user=first["user"], password=first["password"]) as app:
        app.execute("INSERT INTO orders VALUES (1)")
    zonda("stack", "check", "shop")

    # the password is rotated without replacing anything
    before = zonda.resource("role")["physical_resource_id"]
    zonda(*zonda.words("update", password_version=2, connection_limit=5))
    second = config(zonda)
    assert second["password"] != first["password"]
    assert postgres.logs_in(first["user"], second["password"], name)
    assert not postgres.logs_in(first["user"], first["password"], name)
    assert zonda.resource("role")["physical_resource_id"] == before
    assert postgres.value("TABLE app.orders", database=name) == 1
    limit = "SELECT datconnlimit FROM pg_database WHERE datname = %s"
    assert postgres.value(limit, name) == 5

    # somebody changes things by hand
    postgres.rows(f"ALTER DATABASE {name} CONNECTION LIMIT 1000")
    postgres.rows(f"ALTER ROLE {name}_app PASSWORD 'guessed'")
    postgres.rows(f"REVOKE USAGE ON SCHEMA app FROM {name}_app", database=name)
    Path(zonda.parameters["config_file"]).write_text("[database]\n")
    said = zonda("stack", "check", "shop", code=1)
    for resource, told in (
        ("database", "connection_limit (5 -> 1000)"),
        ("role", "password"),
        ("on_schema", "is gone"),
        ("config", "hidden_content"),
    ):
        shown = zonda.resource(resource)
        assert shown["resource_status"] == "CHECK_FAILED", said
        assert told in shown["resource_status_reason"]

    # the next update puts it right, in place
    zonda(*zonda.words("update", password_version=2, connection_limit=5))
    zonda("stack", "check", "shop")
    assert config(zonda) == second
    assert postgres.logs_in(first["user"], second["password"], name)
    assert postgres.value("TABLE app.orders", database=name) == 1
    assert postgres.value(limit, name) == 5

    postgres.rows("DROP TABLE app.orders", database=name)
    zonda("stack", "delete", "--yes", "shop")
    assert is_left(postgres, zonda) == []
    for secret in (first["password"], second["password"]):
        assert secret not in zonda.said


def test_an_abandoned_stack_is_adopted_with_all_it_made(
    postgres: Any, zonda: Zonda, tmp_path: Path
) -> None:
    document = str(tmp_path / "shop.json")
    zonda(*zonda.words("create"))
    before = config(zonda)
    zonda("stack", "abandon", "-y", "shop", "--with-secrets", "--output-file", document)
    assert len(is_left(postgres, zonda)) == 3
    zonda("stack", "adopt", "shop", "--adopt-file", document)
    zonda("stack", "check", "shop")
    zonda(*zonda.words("update", connection_limit=3))
    assert config(zonda) == before
    zonda("stack", "delete", "--yes", "shop")
    assert is_left(postgres, zonda) == []


#: Sessions of the stack that wait, both in the middle of making something.
WAITING = """
    SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'
    AND application_name IN ('zonda shop/database', 'zonda shop/role') HAVING count(*) = 2
"""
DATABASE = "SELECT 1 FROM pg_database WHERE datname = %s"
ROLE = "SELECT 1 FROM pg_roles WHERE rolname = %s || '_app'"


def create(zonda: Zonda) -> subprocess.Popen[bytes]:
    """``stack create`` as a process of its own."""
    return subprocess.Popen(
        zonda.command(*zonda.words("create")),
        env=zonda.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def completes(postgres: Any, zonda: Zonda) -> None:
    """The next command completes what was begun; everything is there once, and goes."""
    zonda("stack", "wait", "shop")
    zonda("stack", "check", "shop")
    found = config(zonda)
    assert postgres.logs_in(found["user"], found["password"], found["name"])
    assert len(is_left(postgres, zonda)) == 3
    zonda("stack", "delete", "--yes", "shop")
    assert is_left(postgres, zonda) == []


def test_a_kill_while_the_server_is_at_work_loses_and_doubles_nothing(
    postgres: Any, zonda: Zonda
) -> None:
    """The server goes on with what zonda asked for when zonda is no more."""
    with postgres.connect() as blocker, blocker.transaction():
        blocker.execute("LOCK TABLE pg_shdescription IN SHARE MODE")
        process = create(zonda)
        while not postgres.rows(WAITING):
            assert process.poll() is None
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    completes(postgres, zonda)


@pytest.mark.parametrize("moment", [DATABASE, ROLE, ""], ids=["database", "role", "file"])
def test_a_kill_in_the_middle_loses_and_doubles_nothing(
    postgres: Any, zonda: Zonda, moment: str
) -> None:
    """Killed as soon as the first trace of it is there (or just after the end)."""
    process = create(zonda)
    with postgres.connect() as eye:
        while process.poll() is None:
            if moment and eye.execute(moment, [zonda.parameters["name"]]).fetchone():
                break
            if not moment and Path(zonda.parameters["config_file"]).exists():
                break
    process.send_signal(signal.SIGKILL)
    assert process.wait() in (0, -signal.SIGKILL)
    completes(postgres, zonda)

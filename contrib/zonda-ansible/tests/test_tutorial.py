"""The tutorial, carried out on this machine by commands of zonda."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from cases.ground import need, need_root, run

GUIDE = Path(__file__).resolve().parents[1] / "docs" / "tutorial.md"


@pytest.fixture
def home(tmp_path: Path, postgresql: Mapping[str, Any]) -> Iterator[Path]:
    """A home with the template, an environment for this machine, and nginx to be had."""
    need_root()
    need("crontab", "cron")
    need("apt-get", "apt")
    if subprocess.run(["/usr/bin/python3", "-c", "import apt"], check=False).returncode:
        pytest.skip("python3-apt is missing: apt-get install python3-apt")
    if "Inst nginx " not in run("apt-get", "install", "--dry-run", "-q", "nginx"):
        pytest.skip("nginx cannot be had, or is there: apt-get update")
    [template] = re.findall(r'```yaml title="shop.yaml"\n(.*?)```', GUIDE.read_text(), re.DOTALL)
    (tmp_path / "shop.yaml").write_text(template)
    public = tempfile.mkdtemp(prefix="zt")  # nginx reads as a user of its own
    Path(public).chmod(0o755)
    (tmp_path / "shop").symlink_to(f"{public}/shop")
    here = {"address": "", "connection": "local", "user": "", "become": False}
    login = {"login_user": postgresql["user"], "login_port": int(postgresql["port"])}
    values = {
        "reach": {**here, "python": sys.executable},
        "database": {**login, "login_unix_socket": postgresql["host"]},
        "service_manager": "sysvinit",
        "folder": f"{public}/shop",
    }
    (tmp_path / "here.yaml").write_text(json.dumps({"parameters": values}))
    yield tmp_path
    shutil.rmtree(public)
    for words in (("service", "nginx", "stop"), ("apt-get", "purge", "-qy", "nginx-common")):
        run(*words)
    run("apt-get", "autoremove", "-qy", "libnginx-mod-http-echo")
    run("userdel", "shop")


class Zonda:
    """Commands of zonda on the stack of the tutorial."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._given = ["-t", str(home / "shop.yaml"), "-e", str(home / "here.yaml")]
        self._environment = {
            **os.environ,
            "ZONDA_HOME": str(home / "zonda"),
            "ZONDA_PARAM_password": "s3cr3t-word",
        }

    def run(self, *words: str, code: int = 0) -> str:
        """The output of a command."""
        command = [sys.executable, "-m", "zonda", "stack", *words]
        found = subprocess.run(
            command, env=self._environment, capture_output=True, text=True, check=False
        )
        said = found.stdout + found.stderr
        assert found.returncode == code, f"{words}: {said}"
        assert "s3cr3t" not in said
        return said

    def run_with_template(self, *words: str) -> str:
        """The same with the template and the environment."""
        return self.run(*words, *self._given)


def fetch_page() -> str:
    """The page, as the server of the certificate gives it."""
    import ssl

    context = ssl._create_unverified_context()  # a certificate of its own
    with urllib.request.urlopen("https://127.0.0.1:8443/", context=context) as page:
        return str(page.read().decode())


def list_roles_and_databases(settings: Mapping[str, Any]) -> set[str]:
    """The names that PostgreSQL knows."""
    import psycopg2

    connection = psycopg2.connect(**settings, dbname="postgres")
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT rolname FROM pg_roles UNION SELECT datname FROM pg_database")
            return {name for (name,) in cursor.fetchall()}
    finally:
        connection.close()


def test_the_tutorial(home: Path, postgresql: Mapping[str, Any]) -> None:
    zonda = Zonda(home)
    before = list_roles_and_databases(postgresql)
    assert "14 to create" in zonda.run_with_template("plan", "shop")
    zonda.run_with_template("create", "shop")
    assert fetch_page() == "<h1>Welcome</h1>\n"
    assert {"shop", "orders"} == list_roles_and_databases(postgresql) - before
    assert "shop report" in run("crontab", "-l")
    assert zonda.run_with_template("update", "shop").count("no change") <= 1
    zonda.run("drift", "check", "shop")

    (home / "shop" / "index.html").write_text("sold out\n")
    run("crontab", "-r")
    drifted = zonda.run("drift", "check", "shop", code=3)
    assert "2 DRIFTED" in drifted
    zonda.run("drift", "repair", "shop")
    assert fetch_page() == "<h1>Welcome</h1>\n"
    assert "shop report" in run("crontab", "-l")
    zonda.run("drift", "check", "shop")

    zonda.run_with_template("update", "shop", "--parameter", "greeting=Hello")
    assert fetch_page() == "<h1>Hello</h1>\n"

    zonda.run("delete", "shop", "-y")
    assert list_roles_and_databases(postgresql) == before
    assert "shop report" not in run("crontab", "-l")
    assert "Status: install" not in run("dpkg", "-s", "nginx-common")
    assert "shop:" not in run("getent", "passwd", "shop")
    assert not Path("/etc/nginx").exists()
    assert not (home / "shop").exists()

"""The tutorial, carried out by commands of zonda on this machine, which it reaches by SSH."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from cases.ground import lock_packages, need, need_apt, run, skip
from commands import Zonda
from servers import SshServer

GUIDE = Path(__file__).resolve().parents[1] / "docs" / "tutorial.md"


@pytest.fixture
def home(
    tmp_path: Path,
    postgresql: Mapping[str, Any],
    server: SshServer,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Path]:
    """A home with the template, an environment for this machine, and nginx to be had."""
    need_apt()
    need("crontab", "cron")
    if "Inst nginx " not in run("apt-get", "install", "--dry-run", "-q", "nginx"):
        skip("nginx cannot be had, or is there: apt-get update")
    known = server.settings
    monkeypatch.setenv("ANSIBLE_REMOTE_PORT", str(known["port"]))
    monkeypatch.setenv("ANSIBLE_PRIVATE_KEY_FILE", known["private_key_file"])
    monkeypatch.setenv("ANSIBLE_SSH_COMMON_ARGS", known["variables"]["ansible_ssh_common_args"])
    [template] = re.findall(r'```yaml title="shop.yaml"\n(.*?)```', GUIDE.read_text(), re.DOTALL)
    (tmp_path / "shop.yaml").write_text(template)
    public = tempfile.mkdtemp(prefix="zt")  # nginx reads as a user of its own
    Path(public).chmod(0o755)
    (tmp_path / "shop").symlink_to(f"{public}/shop")
    here = {"address": known["address"], "connection": "ssh", "user": "root", "become": False}
    login = {"login_user": postgresql["user"], "login_port": int(postgresql["port"])}
    values = {
        "reach": {**here, "python": sys.executable},
        "database": {**login, "login_unix_socket": postgresql["host"]},
        "service_manager": "sysvinit",
        "folder": f"{public}/shop",
    }
    (tmp_path / "here.yaml").write_text(json.dumps({"parameters": values}))
    with lock_packages():
        yield tmp_path
        for words in (("service", "nginx", "stop"), ("apt-get", "purge", "-qy", "nginx-common")):
            run(*words)
        run("apt-get", "autoremove", "-qy", "libnginx-mod-http-echo")
    shutil.rmtree(public)
    Path("/var/spool/cron/crontabs/shop").unlink(missing_ok=True)
    run("userdel", "shop")


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
    given = ["-t", str(home / "shop.yaml"), "-e", str(home / "here.yaml")]
    zonda = Zonda(home, given, ZONDA_PARAM_password="s3cr3t-word")
    before = list_roles_and_databases(postgresql)
    assert "14 to create" in zonda.run_with_template("plan", "shop")
    zonda.run_with_template("create", "shop")
    assert fetch_page() == "<h1>Welcome</h1>\n"
    assert {"shop", "orders"} == list_roles_and_databases(postgresql) - before
    assert "shop report" in run("crontab", "-u", "shop", "-l")
    assert zonda.run_with_template("update", "shop").count("no change") <= 1
    zonda.run("drift", "check", "shop")

    (home / "shop" / "index.html").write_text("sold out\n")
    run("crontab", "-u", "shop", "-r")
    drifted = zonda.run("drift", "check", "shop", code=3)
    assert "2 DRIFTED" in drifted
    zonda.run("drift", "repair", "shop")
    assert fetch_page() == "<h1>Welcome</h1>\n"
    assert "shop report" in run("crontab", "-u", "shop", "-l")
    zonda.run("drift", "check", "shop")

    zonda.run_with_template("update", "shop", "--parameter", "greeting=Hello")
    assert fetch_page() == "<h1>Hello</h1>\n"

    zonda.run("delete", "shop", "-y")
    assert list_roles_and_databases(postgresql) == before
    assert "report" not in Path("/var/spool/cron/crontabs/shop").read_text()
    assert "Status: install" not in run("dpkg", "-s", "nginx-common")
    assert "shop:" not in run("getent", "passwd", "shop")
    assert not Path("/etc/nginx").exists()
    assert not (home / "shop").exists()

"""Makes a frozen database: a small home in which there is something of everything.

    PYTHON tests/store/frozen/freeze.py NAME

PYTHON is an interpreter that imports the zonda to be frozen; NAME is its schema and the release, or
the commit. It writes ``NAME.zip`` beside this file, with ``zonda.db`` and ``zonda.key``. Done once
for each schema and each release, by the code of that time; the file is never made again.
``tests/cli/test_frozen_databases.py`` brings each of them up to date.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
import zipfile
from contextlib import closing
from pathlib import Path

HERE = Path(__file__).resolve().parent

NOTES = """
heat_template_version: 2021-04-16
parameters:
  text: {type: string, default: one}
  password: {type: string, hidden: true, default: swordfish-one}
resources:
  first: {type: Frozen::Note, properties: {text: {get_param: text}, secret: {get_param: password}}}
  second: {type: Frozen::Note, properties: {text: {get_attr: [first, text]}}}
  random: {type: OS::Heat::RandomString, properties: {length: 12}}
outputs:
  text: {value: {get_attr: [second, text]}}
  password: {value: {get_attr: [first, secret]}}
"""

NESTED = """
heat_template_version: 2021-04-16
parameters: {count: {type: number, default: 2}}
resources:
  group:
    type: OS::Heat::ResourceGroup
    properties:
      count: {get_param: count}
      resource_def: {type: inner.yaml, properties: {text: "member %index%"}}
outputs:
  texts: {value: {get_attr: [group, text]}}
"""

INNER = """
heat_template_version: 2021-04-16
parameters: {text: {type: string}}
resources:
  note: {type: Frozen::Note, properties: {text: {get_param: text}}}
outputs:
  text: {value: {get_attr: [note, text]}}
"""

FAILING = """
heat_template_version: 2021-04-16
parameters: {fails: {type: boolean, default: true}}
resources:
  good: {type: Frozen::Note, properties: {text: good}}
  bad:
    type: Frozen::Note
    depends_on: good
    properties: {text: bad, fails: {get_param: fails}}
"""

WAITING = """
heat_template_version: 2021-04-16
parameters: {waits: {type: boolean, default: true}}
resources:
  slow: {type: Frozen::Note, properties: {text: slow, waits: {get_param: waits}}}
"""

OPTIONS = """
zonda:
  retries: {bad: {attempts: 2, delay: 0.1}}
  drift: {policy: report, schedule: 1h}
"""


def command(home: Path, *words: str) -> list[str]:
    """A command line of the release that is frozen."""
    settings = ("--set", f"plugin_dirs={HERE / 'plugins'}")
    return [sys.executable, "-m", "zonda", *words, "--home", str(home), *settings]


def fill(home: Path, templates: Path) -> None:
    """Make stacks of every kind."""

    def run(text: str, *more: str, code: int = 0) -> None:
        words = [*text.split(), *more]
        done = subprocess.run(command(home, *words), cwd=templates, capture_output=True, text=True)
        if done.returncode != code:
            raise SystemExit(f"{' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")

    run("stack create notes -t notes.yaml -e options.yaml --tags kept,frozen")
    run("stack snapshot create notes --name before")
    run("stack update notes -t notes.yaml -P text=two -P password=swordfish-two")
    run("stack resource signal notes first --data", '{"text": "changed by hand"}')
    run("stack drift check notes", code=3)
    run("stack drift ignore notes second --reason because")
    run("stack protect notes random")
    run("stack create nested -t nested.yaml")
    run("stack create failed -t failing.yaml -e options.yaml", code=1)
    run("stack create asleep -t notes.yaml")
    run("stack suspend asleep")
    run("stack create gone -t notes.yaml")
    run("stack delete gone --yes")
    _ask_server(home)
    create = "stack create -t waiting.yaml"
    _kill_when("hook != ''", home, templates, f"{create} -P waits=false --pre-create slow paused")
    _kill_when("op_state = 'POLLING'", home, templates, f"{create} interrupted")


def _ask_server(home: Path) -> None:
    """Make a configuration and its deployment, as only the API does, and a plan, as pages do."""
    words = ("serve", "--address", "127.0.0.1:0", "--ready", "ready")
    pipe, both = subprocess.PIPE, subprocess.STDOUT
    serve = subprocess.Popen(command(home, *words), stdout=pipe, stderr=both, text=True)
    assert serve.stdout is not None
    try:
        url = ""
        for line in serve.stdout:
            url = url or line.partition("zonda at ")[2].partition(";")[0].strip()
            if line == "ready\n":
                break
        config = {"name": "setup", "group": "script", "config": "echo frozen"}
        made = _post(f"{url}/v1/default/software_configs", config)["software_config"]
        deployment = {"config_id": made["id"], "server_id": "frozen", "input_values": {"a": "b"}}
        _post(f"{url}/v1/default/software_deployments", deployment)
        _show_plan(f"{url}/ui/default/new", url)
    finally:
        serve.terminate()
        serve.communicate()


def _show_plan(url: str, origin: str) -> None:
    """Have a page show a plan, and leave it."""
    with urllib.request.urlopen(url) as page:
        [csrf, *_] = re.findall(r'name="csrf" value="([^"]*)"', page.read().decode())
    form = urllib.parse.urlencode({"csrf": csrf, "name": "planned", "template": FAILING})
    headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin"}
    with urllib.request.urlopen(urllib.request.Request(url, form.encode(), headers)) as shown:
        assert "/plans/" in shown.url, shown.read()


def _post(url: str, body: object) -> dict[str, dict[str, str]]:
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        found: dict[str, dict[str, str]] = json.load(answer)
        return found


def _kill_when(condition: str, home: Path, templates: Path, text: str) -> None:
    """Leave an action that nobody carries out any more."""
    quiet = subprocess.DEVNULL
    words = command(home, *text.split())
    process = subprocess.Popen(words, cwd=templates, stdout=quiet, stderr=quiet)
    query = f"SELECT count(*) FROM resource WHERE {condition} AND name = 'slow'"
    while process.poll() is None:
        with closing(sqlite3.connect(home / "zonda.db", timeout=30)) as connection:
            if connection.execute(query).fetchone()[0]:
                break
    process.send_signal(signal.SIGKILL)
    process.wait()


def main(name: str) -> None:
    """Make ``NAME.zip``."""
    folder = Path(tempfile.mkdtemp())
    home = folder / "home"
    try:
        for file, text in {
            "notes.yaml": NOTES,
            "nested.yaml": NESTED,
            "inner.yaml": INNER,
            "failing.yaml": FAILING,
            "waiting.yaml": WAITING,
            "options.yaml": OPTIONS,
        }.items():
            (folder / file).write_text(text)
        fill(home, folder)
        with closing(sqlite3.connect(home / "zonda.db")) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("VACUUM INTO ?", (str(folder / "zonda.db"),))
        archive = HERE / f"{name}.zip"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_LZMA) as made:
            made.write(folder / "zonda.db", "zonda.db")
            made.write(home / "zonda.key", "zonda.key")
        archive.chmod(0o644)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    os.umask(0o077)
    main(sys.argv[1])

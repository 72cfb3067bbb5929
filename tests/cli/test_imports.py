"""Modules that commands import: none that they do not use. Counted, not timed."""

import subprocess
import sys
from pathlib import Path

import pytest

from .server import Server

TEMPLATE = """
heat_template_version: 2018-08-31
resources:
  one: {type: OS::Heat::RandomString}
"""
#: What nothing but its own command needs: beginnings of names of modules.
ELSEWHERE = (
    *("sqlalchemy", "alembic", "rich", "requests", "yaql", "apscheduler", "dateutil", "asyncio"),
    *("hashlib", "_hashlib", "hmac", "secrets", "shutil", "zonda.core.settings.section_checks"),
    *("zonda.core.functions.", "zonda.core.engine.nested."),
    *("zonda.core.engine.preview", "zonda.core.reports", "zonda.core.introspection"),
    *("zonda.core.scaffold", "zonda.core.reference", "zonda.core.events", "zonda.core.diagnostics"),
    *("zonda.core.schedule.jobs", "zonda.core.store.read.drift_views", "zonda.hooks.conformance"),
    *(
        "zonda.builtin_resources.",
        "zonda.workflows.",
        "zonda.core.app.runners.runner_service",
        "zoneinfo",
        "uuid",
    ),
    *("zonda.hooks.resources.workflow_run", "zonda.hooks.runners.messages"),
    *(
        "zonda.core.engine.drift.",
        "zonda.core.engine.actions.",
        "zonda.core.template.environment.schedules",
    ),
)
#: What is needed of such rooms.
DOORS = {
    *(f"zonda.core.functions.{name}" for name in ("versions", "foreign", "yaql_call")),
    *(f"zonda.core.engine.nested.{name}" for name in ("operation_kinds", "refresh")),
    *("zonda.core.engine.drift.interrupting", "zonda.core.engine.drift.on_demand"),
    *(f"zonda.core.engine.actions.{name}" for name in ("base", "table", "wire")),
    *("zonda.core.reports", "zonda.core.reports.outputs"),
    *(
        f"zonda.builtin_resources.{name}"
        for name in ("plugin", "base", "basic", "basic.random_string")
    ),
    *(
        "zonda.core.reports.texts",
        "zonda.core.reports.texts.times",
        "zonda.core.reports.texts.plan",
    ),
    *("zonda.workflows.plugin", "zonda.hooks.runners.base", "zonda.hooks.runners.references"),
}
#: Where the action of a command stands.
KINDS = {"create": "templates", "update": "templates", "delete": "stacks"}


@pytest.mark.parametrize("verb", ["create", "update", "delete"])
def test_a_plain_command_imports_only_what_it_uses(tmp_path: Path, verb: str) -> None:
    (tmp_path / "one.yaml").write_text(TEMPLATE)
    before = [] if verb == "create" else [_words("create", tmp_path)]

    for words in before:
        _imported(words)
    found = _imported(_words(verb, tmp_path))

    assert "zonda.core.engine.handlers.runners" in found
    found -= DOORS | {f"zonda.core.engine.actions.{KINDS[verb]}"}
    assert sorted(name for name in found if name.startswith(ELSEWHERE)) == []


def test_a_command_that_reads_imports_nothing_that_writes(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(TEMPLATE)
    _imported(_words("create", tmp_path))

    found = _imported(["--home", str(tmp_path / "home"), "stack", "list"])

    assert "zonda.core.store.read.reader" in found
    assert sorted(name for name in found if name.startswith("zonda.core.store.write.")) == []


def _words(verb: str, home: Path) -> list[str]:
    given = ["--yes"] if verb == "delete" else ["-t", str(home / "one.yaml")]
    return ["--home", str(home / "home"), "stack", verb, *given, "one"]


def _imported(words: list[str]) -> set[str]:
    """The modules of a process that has carried out a command."""
    script = (
        "import sys; from zonda.core.cli.main import main; code = main(sys.argv[1:]);"
        "print(*sys.modules, sep='\\n', file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


#: Parts of reports that only show results
TEXTS = "zonda.core.reports.texts"
DRAWN = {"zonda.core.reports", "zonda.core.reports.drift"}
#: Rooms that a command for a server has no use for.
OF_SERVERS = (
    *("zonda.core.api", "starlette", "uvicorn", "sqlalchemy", "apscheduler", "jinja2"),
    *("zonda.core.engine.runtime", "zonda.core.engine.handlers", "zonda.core.engine.plan"),
    *(
        "zonda.core.engine.plugins",
        "zonda.core.plugins",
        "zonda.core.functions",
        "zonda.core.reports",
    ),
    *("zonda.builtin_resources", "zonda.core.schedule", "zonda.core.store.write.migrations"),
)


def test_a_command_for_a_server_imports_neither_server_nor_engine(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(TEMPLATE)
    server = Server()
    try:
        with server.serve({"home": str(tmp_path / "served"), "log": "off"}):
            for words in (
                ["stack", "create", "-t", str(tmp_path / "one.yaml"), "one"],
                ["stack", "list"],
                ["stack", "show", "one"],
                ["stack", "delete", "--yes", "one"],
            ):
                found = _imported(["--home", str(tmp_path / "client"), *words])
                found -= {name for name in found if name.startswith(TEXTS)} | DRAWN
                assert sorted(name for name in found if name.startswith(OF_SERVERS)) == []
    finally:
        server.close()
    assert not (tmp_path / "client").exists()

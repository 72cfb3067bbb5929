"""A workflow that is cancelled: the service ends it, and an event of the stack tells how."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

TEMPLATE = """
heat_template_version: 2018-08-31
resources:
  thing:
    type: OS::Mistral::ExternalResource
    properties:
      actions:
        CREATE: {workflow: work}
        DELETE: {workflow: gone}
      input: {folder: FOLDER}
"""


def is_polled(home: Path) -> bool:
    """Whether the start of the run has come back: what is still in that call is not followed."""
    with closing(sqlite3.connect(home / "zonda.db")) as database:
        return database.execute("SELECT op_state FROM resource").fetchall() == [("POLLING",)]


def test_a_cancelled_run_is_followed_to_its_end(
    zonda: Any, service: Any, write: Callable[[str, str], Path], until: Callable[..., Any]
) -> None:
    service.file.write_text(service.file.read_text() + '  gone: {command: ["true"]}\n')
    zonda.configure("cancel_grace = 0.0\n")
    service.start()
    zonda.start("engine", "run")
    lock = zonda.home / "zonda.db.lock"
    until(lambda: lock.exists() and lock.read_text().strip(), "the engine runs")
    template = write("t.yaml", TEMPLATE.replace("FOLDER", str(service.folder)))
    zonda.run("stack", "create", "--no-wait", "s", "-t", template)
    until(lambda: service.runs, "the workflow runs")
    until(lambda: is_polled(zonda.home), "the run is polled")
    zonda.run("stack", "cancel", "--no-wait", "s")

    def told() -> list[dict[str, Any]]:
        rows = zonda.data("stack", "event", "list", "s")
        return [row for row in rows if row["resource_status"].startswith("CANCEL_")]

    [row] = until(told, "the end of the run is an event")
    reason = row["resource_status_reason"]
    assert reason.startswith("CREATE, which was given up, has ended: it failed")
    assert "cancelled" in reason
    until(lambda: zonda.state("s") == "ROLLBACK_COMPLETE", "what was begun is removed")

"""The lines about requests: each change with its user, each failure with its id, no secret."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from zonda.core.store.file.faults import to_store_error
from zonda.core.store.read.reader import Reader

SECRET = "swordfish"
TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "parameters": {"p": {"type": "string", "hidden": True}},
}


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Any:
    caplog.set_level(logging.INFO, logger="zonda.calls")

    def read() -> list[dict[str, Any]]:
        found = [getattr(record, "fields", {}) for record in caplog.records]
        return [fields for fields in found if "status" in fields]

    return read


def test_a_change_is_told_with_its_user_and_a_read_is_not(api: Any, lines: Any) -> None:
    api("GET", "/stacks")
    body = {"stack_name": "told", "template": TEMPLATE, "parameters": {"p": SECRET}}
    api("POST", "/stacks", body)
    api.become("p1/reader")("POST", "/stacks", body)
    assert lines() == [
        {
            "request": "req-1",
            "project": "p1",
            "user": "ann",
            "operation": "stacks:create",
            "method": "POST",
            "path": "/v1/p1/stacks",
            "status": status,
        }
        for status in (201, 403)
    ]


def test_a_failure_is_told_without_its_text(
    api: Any, lines: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(self: Any, query: Any) -> None:
        raise ZeroDivisionError(SECRET)

    monkeypatch.setattr("zonda.core.store.read.reader.Reader.list_stacks", fail)
    assert api("GET", "/stacks", name=SECRET).status == 500
    (line,) = lines()
    assert (line["request"], line["status"], line["reason"]) == ("req-1", 500, "ZeroDivisionError")
    assert "listing.py" in line["traceback"]
    assert SECRET not in str(line)
    assert SECRET not in caplog.text


def test_calls_that_a_request_leads_to_have_its_id(
    api: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="zonda.calls")
    template = {**TEMPLATE, "resources": {"r": {"type": "OS::Heat::RandomString"}}}
    api.create("with-calls", template, parameters={"p": SECRET})
    fields = [getattr(record, "fields", {}) for record in caplog.records]
    called = [each for each in fields if each.get("stack") == "with-calls"]
    assert called
    assert {each["request"] for each in called} == {"req-1"}


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/p1/stacks", None),
        ("POST", "/zonda/v1/p1/read/stacks.list_all", {"nested": False}),
    ],
)
def test_the_log_alone_names_the_folder_of_a_database_that_fails(
    api: Any, lines: Any, monkeypatch: pytest.MonkeyPatch, method: str, path: str, body: Any
) -> None:
    place = api.app.store.database.url
    full = to_store_error(sqlite3.OperationalError("database or disk is full"), place)
    for name in ("list_stacks", "stacks"):
        monkeypatch.setattr(Reader, name, Mock(side_effect=full))
    reply = api.send(method, path, body)
    folder = str(Path(place).parent)
    assert (reply.status, folder in place) == (503, True)
    assert "The database zonda.db: The disk is full." in str(reply.body)
    assert folder not in str(reply.body)
    assert lines()[-1]["reason"] == f"The database {place}: The disk is full."


def test_half_of_a_surrogate_pair_is_written_out(
    api: Any, lines: Any, caplog: pytest.LogCaptureFixture
) -> None:
    assert api.send("DELETE", "/v1/p1/stacks/\ud800").status == 400
    assert lines()[-1]["path"] == "/v1/p1/stacks/\\ud800"
    assert caplog.text.encode()

"""``stack why``: the first failure, its place, what to do, and running operations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zonda.core.reports import advice

Zonda = Callable[..., Any]
Write = Callable[[str, str], Path]

FAILING = """\
heat_template_version: 2018-08-31
parameters:
  word: {type: string, hidden: true, default: xY7-hush}
resources:
  good: {type: OS::Heat::TestResource, properties: {value: one}}
  bad:
    type: OS::Heat::TestResource
    properties: {value: two, fail: true}
  after: {type: OS::Heat::TestResource, depends_on: bad}
"""
GOOD = FAILING.replace(", fail: true", "")


@pytest.fixture
def failed(zonda: Zonda, write: Write) -> None:
    """A stack ``web`` whose creation has failed."""
    zonda("stack", "create", "web", "-t", write("t.yaml", FAILING), code=1)


def test_the_failure_with_its_place_its_line_and_what_to_do(zonda: Zonda, failed: None) -> None:
    out = zonda("stack", "why", "web").out
    assert "t.yaml:6:3: CREATE of bad (OS::Heat::TestResource) failed" in out
    assert "    6 |   bad:" in out
    assert "value: two" in out
    assert "CREATE_FAILED" in out
    assert "zonda stack update web" in out


def test_it_as_data(zonda: Zonda, failed: None) -> None:
    data = zonda("stack", "why", "web", "-f", "json").data
    (failure,) = data["failures"]
    assert (data["generation"], data["status"], data["certain"]) == (1, "FAILED", True)
    assert (failure["resource_name"], failure["action"], failure["line"]) == ("bad", "CREATE", 6)
    assert failure["properties"]["value"] == "two"
    assert [each["status"] for each in failure["events"]] == ["CREATE_IN_PROGRESS", "CREATE_FAILED"]


def test_what_was_never_begun_is_explained_by_what_failed_first(zonda: Zonda, failed: None) -> None:
    data = zonda("stack", "why", "web", "after", "-f", "json").data
    assert data["failures"][0]["resource_name"] == "bad"
    assert data["now"][0]["told"] == ["nothing was done to it yet"]


def test_a_resource_that_is_well(zonda: Zonda, failed: None) -> None:
    out = zonda("stack", "why", "web", "good").out
    assert "good (OS::Heat::TestResource): it is CREATE_COMPLETE" in out
    assert "bad" not in out


def test_the_template_is_the_stored_one(zonda: Zonda, write: Write, failed: None) -> None:
    write("t.yaml", "something else\n")
    assert "    6 |   bad:" in zonda("stack", "why", "web").out


def test_a_rollback_is_explained_by_the_failure_that_asked_for_it(
    zonda: Zonda, write: Write
) -> None:
    zonda("stack", "create", "web", "-t", write("t.yaml", GOOD))
    zonda("stack", "update", "web", "-t", write("t.yaml", FAILING), "--enable-rollback", code=1)
    data = zonda("stack", "why", "web", "-f", "json").data
    assert data["stack_status"] == "ROLLBACK_COMPLETE"
    assert (data["generation"], data["action"]) == (2, "UPDATE")
    assert data["failures"][0]["resource_name"] == "bad"


def test_nothing_failed_and_an_earlier_failure_is_named(
    zonda: Zonda, write: Write, failed: None
) -> None:
    zonda("stack", "update", "web", "-t", write("t.yaml", GOOD))
    out = zonda("stack", "why", "web").out
    assert "Nothing has failed" in out
    assert "zonda stack why web --at 1" in out
    assert zonda("stack", "why", "web", "--at", "1", "-f", "json").data["failures"]


def test_why_something_was_replaced(zonda: Zonda, write: Write) -> None:
    text = """\
heat_template_version: 2018-08-31
resources:
  pass: {type: OS::Heat::RandomString, properties: {length: 10}}
"""
    zonda("stack", "create", "web", "-t", write("t.yaml", text))
    zonda("stack", "update", "web", "-t", write("t.yaml", text.replace("10", "12")))
    data = zonda("stack", "why", "web", "pass", "-f", "json").data
    changed = data["now"][0]["changed_last"]
    assert changed == {"decision": "replace", "why": "fixed", "properties": ["length"]}
    out = zonda("stack", "why", "web", "pass").out
    assert "it was replaced last because length cannot change in place" in out


def test_a_deleted_stack_by_its_id(zonda: Zonda, failed: None) -> None:
    key = zonda("stack", "show", "web", "-f", "value", "-c", "id").out.strip()
    zonda("stack", "delete", "web", "--yes")
    data = zonda("stack", "why", key, "--at", "1", "-f", "json").data
    assert data["failures"][0]["resource_name"] == "bad"
    assert "generation" in zonda("stack", "why", key).out.lower()


def test_a_resource_that_is_gone_with_its_stack(zonda: Zonda, failed: None) -> None:
    key = zonda("stack", "show", "web", "-f", "value", "-c", "id").out.strip()
    zonda("stack", "delete", "web", "--yes")
    out = zonda("stack", "why", key, "bad").out
    assert "bad (OS::Heat::TestResource): gone" in out
    assert "DELETE_COMPLETE" in out
    assert f"'zonda stack why {key} bad --at 1'" in out
    assert "CREATE of bad" in zonda("stack", "why", key, "bad", "--at", "1").out
    assert "'zonda stack" not in zonda("stack", "why", key, "good").out, "it never failed"
    (failure,) = zonda("stack", "why", key, "--at", "1", "-f", "json").data["failures"]
    assert not any("tries again" in text for text in failure["advice"])


def test_a_resource_that_is_marked_as_unhealthy(zonda: Zonda, write: Write) -> None:
    zonda("stack", "create", "web", "-t", write("t.yaml", GOOD))
    zonda("stack", "resource", "mark", "unhealthy", "web", "good", "disk is dying")
    out = zonda("stack", "why", "web").out
    assert "Nothing has failed" not in out
    for text in (out, zonda("stack", "why", "web", "good").out):
        assert "it is CHECK_FAILED (disk is dying" in text
        assert "the next update replaces it" in text
        assert "mark unhealthy --reset" in text
    (now,) = zonda("stack", "why", "web", "-f", "json").data["now"]
    assert (now["resource_name"], now["doing"]) == ("good", "unwell")


GRUMPY = """
from zonda.hooks import hookimpl, properties, resource


class Grumpy(resource.Resource):
    properties_schema = {"fails": properties.Schema("String", update_allowed=True)}

    def refuse(self, name):
        if self.properties["fails"] == name:
            raise ValueError("no")

    def handle_create(self):
        self.refuse("create")
        self.resource_id_set("x")

    def handle_suspend(self):
        self.refuse("suspend")

    def handle_check(self):
        self.refuse("check")


@hookimpl
def zonda_resource_types():
    return {"My::Grumpy": Grumpy}
"""


@pytest.mark.parametrize(
    ("fails", "said", "not_said"),
    [
        ("create", ["zonda stack retry web", "zonda stack update web -t"], ["delete", "--reset"]),
        ("suspend", ["zonda stack retry web"], ["update web", "--reset"]),
        ("check", ["unhealthy --reset web r", "'zonda stack update web' replaces"], ["retry"]),
    ],
)
def test_what_to_do_is_what_the_stack_takes(
    zonda: Zonda, write: Write, fails: str, said: list[str], not_said: list[str]
) -> None:
    write("home/plugins/grumpy.py", GRUMPY)
    text = f"resources: {{r: {{type: My::Grumpy, properties: {{fails: {fails}}}}}}}\n"
    template = write("t.yaml", "heat_template_version: 2018-08-31\n" + text)
    zonda("stack", "create", "web", "-t", template, code=fails == "create")
    if fails != "create":
        zonda("stack", fails, "web", code=1)
    (failure,) = zonda("stack", "why", "web", "-f", "json").data["failures"]
    told = " ".join(failure["advice"])
    assert [text for text in said if text not in told] == []
    assert [text for text in not_said if text in told] == []


@pytest.mark.sqlite
def test_nobody_is_at_work(zonda: Zonda, write: Write) -> None:
    zonda("stack", "create", "web", "-t", write("t.yaml", GOOD), "--no-wait")
    said = "No engine is at work on web: 'zonda stack wait web' goes on with it."
    for words in (("show", "web"), ("why", "web")):
        assert said in zonda("stack", *words).err
    assert "--wait waits for its end" in zonda("stack", "suspend", "web", code=1).err
    zonda("stack", "wait", "web")
    assert "No engine" not in zonda("stack", "show", "web").err


def test_hidden_values_are_told_nowhere(zonda: Zonda, write: Write) -> None:
    text = FAILING.replace("value: two,", "value: {get_param: word},")
    zonda("stack", "create", "web", "-t", write("t.yaml", text), code=1)
    for form in ("table", "json", "yaml"):
        done = zonda("stack", "why", "web", "-f", form)
        assert "xY7" not in done.out + done.err
    data = zonda("stack", "why", "web", "-f", "json").data
    assert data["failures"][0]["properties"]["value"] == "(hidden)"


def test_the_place_of_a_fault_inside_the_resource(zonda: Zonda, write: Write) -> None:
    text = """\
heat_template_version: 2018-08-31
resources:
  one: {type: OS::Heat::TestResource, properties: {value: abc}}
  two:
    type: OS::Heat::TestResource
    properties:
      value: x
      wait_secs: {get_attr: [one, output]}
"""
    zonda("stack", "create", "web", "-t", write("t.yaml", text), code=1)
    (failure,) = zonda("stack", "why", "web", "-f", "json").data["failures"]
    assert (failure["during"], failure["line"]) == ("prepare", 8)
    assert failure["code"].startswith("ZON1")


@pytest.mark.sqlite
def test_where_nothing_is_kept_it_says_so(zonda: Zonda, tmp_path: Path, failed: None) -> None:
    import sqlite3

    for statement in ("UPDATE action SET status_reason = ''", "DELETE FROM action"):
        with sqlite3.connect(tmp_path / "home" / "zonda.db") as connection:
            connection.execute("DELETE FROM failed")
            connection.execute(statement)
        connection.close()
        assert "Nothing is kept" in zonda("stack", "why", "web", code=4).out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(("why", "wep"), "web", id="stack"),
        pytest.param(("why", "web", "bat"), "bad", id="resource"),
        pytest.param(("why", "web", "--at", "9"), "Kept are 1 to 1", id="generation"),
    ],
)
def test_mistakes(zonda: Zonda, failed: None, words: tuple[str, ...], said: str) -> None:
    assert said in zonda("stack", *words, code=1).err


def test_advice_can_be_filled_in() -> None:
    for texts in (*advice.BY_KIND.values(), *advice.BY_CODE.values()):
        assert isinstance(texts, tuple), texts
        words = {"stack": "s", "resource": "r", "type": "t", "kind": "k"}
        assert all("{" not in text.format(**words) for text in texts)


@pytest.mark.sqlite
def test_what_is_planned_waits_for_whom(zonda: Zonda, write: Write) -> None:
    zonda("stack", "create", "web", "-t", write("t.yaml", GOOD), "--no-wait")
    data = zonda("stack", "why", "web", "-f", "json").data
    waits = {each["resource_name"]: each["waits_for"] for each in data["now"]}
    assert waits == {"good": [], "bad": [], "after": ["bad"]}
    assert "after (OS::Heat::TestResource): it waits for bad" in zonda("stack", "why", "web").out


def test_a_type_whose_plug_in_is_gone(zonda: Zonda, write: Write) -> None:
    plugin = write(
        "home/plugins/mine.py",
        """\
from zonda.hooks import resource

class Mine(resource.Resource):
    def handle_create(self):
        self.resource_id_set("mine-1")

def resource_mapping():
    return {"My::Type": Mine}
""",
    )
    text = "heat_template_version: 2018-08-31\nresources:\n  a: {type: My::Type}\n"
    zonda("stack", "create", "web", "-t", write("t.yaml", text))
    kept = plugin.read_text()
    plugin.unlink()
    said = zonda("stack", "delete", "web", "-y", code=1).err
    assert "resources.a: The Resource Type (My::Type) could not be found." in said
    assert "fault" not in said
    (failure,) = zonda("stack", "why", "web", "-f", "json").data["failures"]
    assert failure["advice"][0].startswith("Install or repair the plug-in")
    assert "zonda stack delete web" in failure["advice"][1]
    write("home/plugins/mine.py", kept)
    zonda("stack", "delete", "web", "-y")

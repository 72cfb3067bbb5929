"""Rollback, retry, snapshots, export, abandon, adopt and import on the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Zonda = Callable[..., Any]
Write = Callable[[str, str], Path]

ONE = """\
heat_template_version: 2018-08-31
parameters:
  word: {type: string, hidden: true, default: s3cret}
resources:
  first: {type: OS::Heat::TestResource, properties: {value: VALUE}}
  key: {type: OS::Heat::RandomString, properties: {length: 8}}
"""
BROKEN = ONE + "  bad: {type: OS::Heat::TestResource, properties: {value: x, fail: true}}\n"


@pytest.fixture
def web(zonda: Zonda, write: Write) -> None:
    """A stack ``web`` with three generations."""
    for number, value in enumerate(("one", "two", "three")):
        template = write(f"{value}.yaml", ONE.replace("VALUE", value))
        zonda("stack", "update" if number else "create", "web", "-t", template)


def value(zonda: Zonda) -> Any:
    shown = zonda("stack", "resource", "show", "web", "first", "-f", "json").data
    return shown["properties"]["value"]


def state(zonda: Zonda) -> Any:
    return zonda("stack", "show", "web", "-f", "json").data["stack_status"]


@pytest.mark.usefixtures("web")
def test_a_stack_goes_back_to_a_generation(zonda: Zonda) -> None:
    done = zonda("stack", "rollback", "web", "--to", "1")
    assert "ROLLBACK_COMPLETE" in done.err
    assert value(zonda) == "one"


@pytest.mark.usefixtures("web")
def test_where_to_go_back_to_is_asked_for(zonda: Zonda) -> None:
    assert "--to" in zonda("stack", "rollback", "web", code=1).err
    assert "stack history" in zonda("stack", "rollback", "web", "--to", "9", code=1).err


def failed(zonda: Zonda, write: Write) -> None:
    template = write("broken.yaml", BROKEN.replace("VALUE", "four"))
    zonda("stack", "update", "web", "-t", template, code=1)
    assert state(zonda) == "UPDATE_FAILED"


@pytest.mark.usefixtures("web")
def test_a_failed_update_is_undone_but_for_what_is_skipped(zonda: Zonda, write: Write) -> None:
    failed(zonda, write)
    zonda("stack", "rollback", "web", "--skip", "first")
    assert state(zonda) == "ROLLBACK_COMPLETE"
    assert value(zonda) == "four"


@pytest.mark.usefixtures("web")
def test_what_failed_is_tried_again(zonda: Zonda, write: Write) -> None:
    failed(zonda, write)
    done = zonda("stack", "retry", "web", code=1)
    assert "bad" in done.err
    assert "first" not in done.err, "it has worked"
    zonda("stack", "rollback", "web")
    assert "nothing to try again" in zonda("stack", "retry", "web", code=1).err


KEEPS = """
from zonda.hooks import hookimpl, resource


class Keeper(resource.Resource):
    def handle_delete_snapshot(self, snapshot):
        raise ValueError("not now")


@hookimpl
def zonda_resource_types():
    return {"My::Keeper": Keeper}
"""


def test_a_snapshot_that_could_not_be_deleted_does_not_look_like_one_that_never_worked(
    zonda: Zonda, write: Write
) -> None:
    write("home/plugins/keeper.py", KEEPS)
    text = "heat_template_version: 2018-08-31\nresources: {r: {type: My::Keeper}}\n"
    zonda("stack", "create", "web", "-t", write("k.yaml", text))
    zonda("stack", "snapshot", "create", "web", "--name", "good")
    (listed,) = zonda("stack", "snapshot", "list", "web", "-f", "json").data
    assert listed["Status"] == "COMPLETE"
    zonda("stack", "snapshot", "delete", "web", "good", code=1)
    (listed,) = zonda("stack", "snapshot", "list", "web", "-f", "json").data
    assert listed["Status"] == "DELETE_FAILED"


# -- snapshots ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("web")
def test_a_snapshot_is_taken_shown_gone_back_to_and_deleted(zonda: Zonda, write: Write) -> None:
    made = zonda("stack", "snapshot", "create", "web", "--name", "good", "-f", "json")
    assert (made.data["name"], made.data["status"]) == ("good", "COMPLETE")
    assert "SNAPSHOT_COMPLETE" in made.err
    (listed,) = zonda("stack", "snapshot", "list", "web", "-f", "json").data
    assert listed["ID"] == made.data["id"]
    shown = zonda("stack", "snapshot", "show", "web", "good", "-f", "json").data["data"]
    assert shown["resources"]["key"]["resource_data"] == {"value": "(hidden)"}
    full = zonda("stack", "snapshot", "show", "web", "good", "--with-secrets", "-f", "json").data
    assert len(full["data"]["resources"]["key"]["resource_data"]["value"]) == 8
    zonda("stack", "update", "web", "-t", write("t.yaml", ONE.replace("VALUE", "later")))
    assert "RESTORE_COMPLETE" in zonda("stack", "snapshot", "restore", "web", "good").err
    assert value(zonda) == "three"
    assert "deleted" in zonda("stack", "snapshot", "delete", "web", "good").err
    assert zonda("stack", "snapshot", "list", "web", "-f", "json").data == []
    assert state(zonda) == "RESTORE_COMPLETE"


@pytest.mark.usefixtures("web")
def test_a_snapshot_that_is_not_there(zonda: Zonda) -> None:
    for word in ("show", "delete", "restore"):
        assert "nope" in zonda("stack", "snapshot", word, "web", "nope", code=1).err


@pytest.mark.usefixtures("web")
def test_what_a_stack_is_not_shown_as_is_waited_for(zonda: Zonda) -> None:
    zonda("stack", "snapshot", "create", "web", "--name", "n", "--no-wait")
    zonda("stack", "wait", "web")
    zonda("stack", "snapshot", "delete", "web", "n", "--no-wait")
    zonda("stack", "wait", "web")
    assert zonda("stack", "snapshot", "list", "web", "-f", "json").data == []


# -- documents ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("web")
def test_an_export_changes_nothing_and_hides_what_is_hidden(zonda: Zonda, tmp_path: Path) -> None:
    done = zonda("stack", "export", "web")
    assert "s3cret" not in done.out
    assert done.data["masked"]
    assert "hidden values are left out" in done.err
    file = tmp_path / "web.json"
    zonda("stack", "export", "web", "--with-secrets", "-o", file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert "masked" not in json.loads(file.read_text())
    assert "exists already" in zonda("stack", "export", "web", "-o", file, code=2).err
    assert state(zonda) == "UPDATE_COMPLETE"


@pytest.mark.usefixtures("web")
def test_what_was_abandoned_is_adopted(zonda: Zonda, tmp_path: Path) -> None:
    file = tmp_path / "web.json"
    before = zonda("stack", "resource", "show", "web", "key", "-f", "json").data
    lost = zonda("stack", "abandon", "web", "-y", code=2)
    assert "would be lost" in lost.err
    zonda("stack", "abandon", "web", "-y", "--with-secrets", "-o", file)
    assert zonda("stack", "list", "-f", "json").data == []
    zonda("stack", "show", "web", code=1)
    done = zonda("stack", "adopt", "web", "--adopt-file", file)
    assert "ADOPT_COMPLETE" in done.err
    after = zonda("stack", "resource", "show", "web", "key", "-f", "json").data
    assert after["physical_resource_id"] == before["physical_resource_id"]
    template = file.parent / "three.yaml"
    zonda("stack", "update", "web", "-t", template)
    key = zonda("stack", "resource", "show", "web", "key", "-f", "json").data
    assert key["resource_status"] == "ADOPT_COMPLETE", "it is as its template says"


HEATS = {
    "action": "CREATE",
    "environment": {
        "encrypted_param_names": [],
        "event_sinks": [],
        "parameter_defaults": {},
        "parameters": {"v": "from heat"},
        "resource_registry": {"resources": {}},
    },
    "files": {},
    "id": "48c3a5e5-5e9d-4b6c-a0c9-1d2f1f0f0a11",
    "name": "old",
    "project_id": "5aee86b9",
    "resources": {
        "first": {
            "action": "CREATE",
            "metadata": {},
            "name": "first",
            "resource_data": {"value": "from heat"},
            "resource_id": "old-first-abc",
            "status": "COMPLETE",
            "type": "OS::Heat::TestResource",
        }
    },
    "stack_user_project_id": "5aee86b9",
    "status": "COMPLETE",
    "tags": ["blue"],
    "template": {
        "heat_template_version": "2018-08-31",
        "parameters": {"v": {"type": "string"}},
        "resources": {
            "first": {
                "type": "OS::Heat::TestResource",
                "properties": {"value": {"get_param": "v"}},
            }
        },
    },
}


def test_what_heat_has_abandoned_is_adopted(zonda: Zonda, write: Write) -> None:
    file = write("heat.json", json.dumps(HEATS))
    shown = zonda("stack", "adopt", "web", "--adopt-file", file, "-f", "json").data
    assert shown["stack_status"] == "ADOPT_COMPLETE"
    first = zonda("stack", "resource", "show", "web", "first", "-f", "json").data
    assert first["physical_resource_id"] == "old-first-abc"
    assert value(zonda) == "from heat"


def test_a_template_and_parameters_of_ones_own_win(zonda: Zonda, write: Write) -> None:
    file = write("heat.json", json.dumps(HEATS))
    zonda("stack", "adopt", "web", "--adopt-file", file, "--parameter", "v=mine")
    assert value(zonda) == "mine"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("{", "no JSON", id="no JSON"),
        pytest.param("[]", "no document", id="a list"),
        pytest.param('{"files": [1]}', "no document", id="files that are a list"),
        pytest.param("{}", "no template", id="no template"),
        pytest.param('{"masked": ["a"], "template": {}}', "--with-secrets", id="masked"),
    ],
)
def test_what_cannot_be_adopted_is_said(text: str, said: str, zonda: Zonda, write: Write) -> None:
    assert said in zonda("stack", "adopt", "web", "--adopt-file", write("a", text), code=2).err


def test_the_rollback_of_an_adoption_leaves_what_there_is(zonda: Zonda, write: Write) -> None:
    document = json.loads(json.dumps(HEATS))
    document["template"]["resources"]["more"] = {"type": "OS::Heat::TestResource"}
    file = write("heat.json", json.dumps(document))
    done = zonda("stack", "adopt", "web", "--adopt-file", file, "--enable-rollback", code=1)
    assert "Resource ID was not provided" in done.err
    assert state(zonda) == "ROLLBACK_COMPLETE"


# -- sources ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("web")
def test_what_a_stack_is_made_of_is_shown(zonda: Zonda) -> None:
    text = zonda("stack", "template", "show", "web").out
    assert "value: three" in text
    assert "s3cret" not in text
    assert "s3cret" in zonda("stack", "template", "show", "web", "--with-secrets").out
    data = zonda("stack", "template", "show", "web", "-f", "json").data
    assert data["resources"]["first"]["properties"] == {"value": "three"}
    assert zonda("stack", "environment", "show", "web", "-f", "json").data["parameters"] == {}
    assert zonda("stack", "file", "list", "web", "-f", "json").data == {}


# -- import -------------------------------------------------------------------------------------


def test_an_object_is_imported_where_its_creation_failed(zonda: Zonda, write: Write) -> None:
    zonda("stack", "create", "web", "-t", write("b.yaml", BROKEN), code=1)
    done = zonda("stack", "import", "web", "bad", "thing-1")
    assert "imported" in done.err
    assert state(zonda) == "CREATE_FAILED"
    bad = zonda("stack", "resource", "show", "web", "bad", "-f", "json").data
    assert bad["physical_resource_id"] == "thing-1"
    assert "cannot tell" in done.err
    assert "failed bad" in zonda("stack", "why", "web").out, "it is still CREATE_FAILED"
    zonda("stack", "retry", "web")
    assert state(zonda) == "CREATE_COMPLETE"
    assert "CREATE_COMPLETE" in zonda("stack", "import", "web", "first", "thing", code=1).err


SECRET = """\
heat_template_version: 2018-08-31
parameters:
  word: {type: string, hidden: true, default: hush-hush}
resources:
  told:
    type: OS::Heat::TestResource
    metadata: {m: {get_param: word}, p: open}
    properties: {value: {str_replace: {template: pre-W, params: {W: {get_param: word}}}}}
  open: {type: OS::Heat::TestResource, metadata: {p: open}, properties: {value: seen}}
"""


def test_what_a_resource_makes_of_a_secret_is_nowhere_shown(zonda: Zonda, write: Write) -> None:
    zonda("stack", "create", "web", "-t", write("t.yaml", SECRET))
    zonda("stack", "snapshot", "create", "web", "--name", "n")
    shown = zonda("stack", "resource", "show", "web", "told", "-f", "json")
    assert shown.data["metadata"] == {"m": "(hidden)", "p": "(hidden)"}
    document = zonda("stack", "export", "web")
    kept = zonda("stack", "snapshot", "show", "web", "n", "-f", "json")
    for done in (shown, document, kept):
        assert "hush-hush" not in done.out
    assert "resources.told.resource_data.value" in document.data["masked"]
    assert document.data["resources"]["open"]["resource_data"] == {"value": "seen"}
    assert zonda("stack", "resource", "show", "web", "open", "-f", "json").data["metadata"] == {
        "p": "open"
    }
    assert "pre-hush-hush" in zonda("stack", "export", "web", "--with-secrets").out


@pytest.mark.sqlite
def test_what_is_in_progress_is_abandoned_by_force_only(zonda: Zonda, write: Write) -> None:
    zonda("stack", "create", "web", "-t", write("t.yaml", SECRET), "--no-wait")
    words = ("stack", "abandon", "web", "-y", "--without-secrets")
    said = zonda(*words, code=1).err
    assert "ZON202" in said
    assert "--force" in said
    zonda(*words, "--force")
    assert zonda("stack", "list", "-f", "json").data == []


def test_what_was_abandoned_without_secrets_is_adopted_with_them(
    zonda: Zonda, write: Write, tmp_path: Path
) -> None:
    text = SECRET[: SECRET.index("resources:")].replace(", default: hush-hush", "")
    text += (
        "resources:\n  a: {type: OS::Heat::TestResource, properties: {value: {get_param: word}}}\n"
    )
    template, file = write("t.yaml", text), tmp_path / "web.json"
    zonda("stack", "create", "web", "-t", template, "-P", "word=hush-hush")
    zonda("stack", "abandon", "web", "-y", "--without-secrets", "-o", file)
    words = ("stack", "adopt", "web", "--adopt-file", file)
    said = zonda(*words, "-t", template, code=2).err
    assert "parameters.word" in said
    assert "--parameter" in said
    said = zonda(*words, "-t", template, "-P", "word=hush-hush", code=2).err
    assert "resources.a.resource_data.value" in said, "nobody has given that again"
    assert "parameters.word" not in said
    document = json.loads(file.read_text())
    document["resources"]["a"]["resource_data"] = {}
    file.write_text(json.dumps(document))
    environment = write("e.yaml", "parameters: {word: hush-hush}\n")
    zonda(*words, "-e", environment)
    assert state(zonda) == "ADOPT_COMPLETE"
    assert "hush-hush" in zonda("stack", "export", "web", "--with-secrets").out


def test_a_failure_has_its_place_although_it_was_rolled_back_to_nothing(
    zonda: Zonda, write: Write
) -> None:
    document = {**HEATS, "resources": {}}
    file = write("heats.json", json.dumps(document, indent=1))
    said = zonda("stack", "adopt", "web", "--adopt-file", file, "--enable-rollback", code=1).err
    assert re.search(r"heats.json:\d+:\d+: error: .*Resource ID was not provided", said)

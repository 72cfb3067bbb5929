"""History, differences and the past of stacks, from the command line on a real database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Zonda = Callable[..., Any]
Write = Callable[[str, str], Path]

FIRST = """\
heat_template_version: 2018-08-31
parameters:
  size: {type: number, default: 1}
  word: {type: string, hidden: true, default: xY7}
resources:
  first:
    type: OS::Heat::TestResource
    properties: {value: {get_param: size}}
  second:
    type: OS::Heat::TestResource
    properties: {value: {get_attr: [first, output]}}
"""
SECOND = FIRST.replace("default: 1", "default: 2").replace("  second:", "  third:")


@pytest.fixture
def web(zonda: Zonda, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stack of three generations, by two users."""
    monkeypatch.setenv("ZONDA_USER", "ann")
    zonda("stack", "create", "web", "-t", write("t.yaml", FIRST))
    monkeypatch.setenv("ZONDA_USER", "bob")
    zonda("stack", "update", "web", "-t", write("u.yaml", SECOND), "-P", "word=zZ8")
    zonda("stack", "check", "web")


def test_history_tells_who_did_what(zonda: Zonda, web: None) -> None:
    first, second, third = zonda("stack", "history", "web", "-f", "json").data
    assert (first["generation"], first["action"], first["status"]) == (1, "CREATE", "COMPLETE")
    assert (first["by"], second["by"], third["by"]) == ("ann", "bob", "bob")
    assert first["counts"] == {"created": 2}
    assert second["counts"] == {"created": 1, "deleted": 1, "updated": 1}
    assert first["template"] != second["template"] == third["template"]
    assert first["environment"] != second["environment"]


def test_history_for_people(zonda: Zonda, web: None) -> None:
    out = zonda("stack", "history", "web", "--limit", "2").out
    assert "CHECK" in out
    assert "bob" in out
    assert "ann" not in out


def test_the_default_user_is_who_runs_the_command(
    zonda: Zonda, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zonda.core.settings.values.login_name", lambda: "eve")
    zonda("stack", "create", "one", "-t", write("t.yaml", FIRST))
    (only,) = zonda("stack", "history", "one", "-f", "json").data
    assert only["by"] == "eve"


def test_a_deleted_stack_is_found_by_its_id(zonda: Zonda, web: None) -> None:
    key = zonda("stack", "show", "web", "-f", "value", "-c", "id").out.strip()
    zonda("stack", "delete", "web", "--yes")
    done = zonda("stack", "history", "web", code=1)
    assert key in done.err
    assert [each["action"] for each in zonda("stack", "history", key, "-f", "json").data] == [
        "CREATE",
        "UPDATE",
        "CHECK",
        "DELETE",
    ]
    assert zonda("stack", "diff", key, "1", "2", "-f", "json").data["from"] == 1
    assert zonda("stack", "show", key, "--at", "1", "-f", "json").data["generation"] == 1


def test_diff_shows_text_values_and_paths(zonda: Zonda, web: None) -> None:
    data = zonda("stack", "diff", "web", "1", "2", "-f", "json").data
    assert "-  second:" in data["template"]
    assert "+  third:" in data["template"]
    assert {"path": "size", "kind": "changed", "before": 1, "after": 2} in data["parameters"]
    paths = {(each["path"], each["kind"]) for each in data["resources"]}
    assert paths == {("resources.second", "removed"), ("resources.third", "added")}


def test_diff_tells_that_a_hidden_value_has_changed_and_no_more(zonda: Zonda, web: None) -> None:
    done = zonda("stack", "diff", "web", "1", "2")
    assert "~ word: (hidden) -> (hidden, changed)" in done.out
    assert "xY7" not in done.out
    assert "zZ8" not in done.out
    for form in ("json", "yaml", "table"):
        out = zonda("stack", "diff", "web", "1", "2", "-f", form).out
        assert "xY7" not in out
        assert "zZ8" not in out


def test_diff_of_one_part_and_by_default_of_the_last_change(zonda: Zonda, web: None) -> None:
    data = zonda("stack", "diff", "web", "--parameters", "-f", "json").data
    assert set(data) == {"from", "to", "parameters"}
    assert (data["from"], data["to"]) == (1, 3)


@pytest.mark.parametrize("alone", [True, False])
def test_diff_where_the_template_never_changed(zonda: Zonda, write: Write, alone: bool) -> None:
    text = "heat_template_version: 2018-08-31\nresources: {a: {type: OS::Heat::None}}\n"
    zonda("stack", "create", "one", "-t", write("one.yaml", text))
    if not alone:
        zonda("stack", "check", "one")
    done = zonda("stack", "diff", "one", "--detailed-exitcode")
    said = "from before generation 1" if alone else "Nothing differs between generations 1 and 2."
    assert said in done.err
    data = zonda("stack", "diff", "one", "-f", "json").data
    assert (data["from"], data["to"]) == (1, 1 if alone else 2)


@pytest.mark.parametrize(
    ("numbers", "code"), [(("2", "3"), 0), (("1", "2"), 2)], ids=["same", "other"]
)
def test_detailed_exit_code(zonda: Zonda, web: None, numbers: tuple[str, str], code: int) -> None:
    zonda("stack", "diff", "web", *numbers, "--detailed-exitcode", code=code)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        pytest.param(("diff", "web", "1", "9"), 1, "Kept are 1 to 3", id="no such generation"),
        pytest.param(("diff", "web", "x"), 2, "no generation", id="no number"),
        pytest.param(("diff", "wep"), 1, "web", id="no such stack"),
        pytest.param(("show", "web", "--at", "7"), 1, "Kept are 1 to 3", id="show"),
    ],
)
def test_mistakes(zonda: Zonda, web: None, words: tuple[str, ...], code: int, said: str) -> None:
    assert said in zonda("stack", *words, code=code).err


def test_files_and_environments_are_compared(zonda: Zonda, write: Write) -> None:
    text = FIRST + "outputs: {o: {value: {get_file: note.txt}}}\n"
    template, environment = write("t.yaml", text), write("e.yaml", "parameters: {size: 3}\n")
    write("note.txt", "one\ntwo\n")
    zonda("stack", "create", "web", "-t", template, "-e", environment)
    write("note.txt", "one\nthree\n")
    write("e.yaml", "parameters: {size: 4}\n")
    zonda("stack", "update", "web", "-t", template, "-e", environment)
    data = zonda("stack", "diff", "web", "-f", "json").data
    (lines,) = data["files"].values()
    assert lines[-2:] == ["-two", "+three"]
    (lines,) = data["environment"].values()
    assert lines[-2:] == ["-parameters: {size: 3}", "+parameters: {size: 4}"]


def test_show_at_gives_the_stack_as_it_was(zonda: Zonda, web: None) -> None:
    done = zonda("stack", "show", "web", "--at", "1", "-f", "json")
    data = done.data
    assert (data["stack_status"], data["by"]) == ("CREATE_COMPLETE", "ann")
    assert data["parameters"]["size"] == 1
    assert data["parameters"]["word"] == "(hidden)"
    assert [each["resource_name"] for each in data["resources"]] == ["first", "second"]
    assert {each["resource_status"] for each in data["resources"]} == {"CREATE_COMPLETE"}
    assert "  second:" in data["template"]
    assert "xY7" not in done.out
    assert "Not kept" in done.err


def test_show_at_leaves_out_what_was_gone_by_then(zonda: Zonda, web: None) -> None:
    data = zonda("stack", "show", "web", "--at", "2", "-f", "json").data
    names = {each["resource_name"]: each["resource_status"] for each in data["resources"]}
    assert names == {"first": "UPDATE_COMPLETE", "third": "CREATE_COMPLETE"}
    assert "template" not in zonda("stack", "show", "web", "--at", "2").out


def test_what_an_action_was_asked_for_with(zonda: Zonda, write: Write) -> None:
    zonda("stack", "create", "web", "-t", write("t.yaml", FIRST), "--target", "first")
    assert "targets: first" in zonda("stack", "history", "web").out
    (only,) = zonda("stack", "history", "web", "-f", "json").data
    assert only["detail"]["targets"] == ["first"]
    assert only["counts"] == {"created": 1}


@pytest.mark.parametrize(("form", "said"), [("value", "CREATE\n"), ("csv", '"Action"\n"CREATE"\n')])
def test_for_programs_an_action_is_its_name(
    form: str, said: str, zonda: Zonda, write: Write
) -> None:
    zonda("stack", "create", "web", "-t", write("t.yaml", FIRST), "--target", "first")
    assert zonda("stack", "history", "web", "-f", form, "-c", "Action").out == said


def test_what_is_hidden_by_now_is_not_told_of_the_past(zonda: Zonda, write: Write) -> None:
    text = FIRST.replace(", hidden: true", "")
    zonda("stack", "create", "web", "-t", write("t.yaml", text))
    zonda("stack", "update", "web", "-t", write("t.yaml", FIRST))
    for words in (("diff", "web", "1", "2"), ("show", "web", "--at", "1")):
        for form in ("table", "json"):
            assert "xY7" not in zonda("stack", *words, "-f", form).out


GATED = """\
heat_template_version: 2018-08-31
parameters:
  word: {type: string, hidden: true}
conditions:
  beta: {equals: [{get_param: word}, hush-beta]}
resources:
  gated: {type: OS::Heat::TestResource, condition: beta}
  plain: {type: OS::Heat::TestResource, properties: {value: VALUE}}
"""


def test_what_one_generation_hides_no_other_shows(zonda: Zonda, write: Write) -> None:
    template = write("g.yaml", GATED)
    zonda("stack", "create", "web", "-t", template, "-P", "word=hush-alpha")
    zonda("stack", "update", "web", "-t", template, "-P", "word=hush-beta")
    data = zonda("stack", "diff", "web", "1", "2", "-f", "json").data
    assert (data["template"], data["resources"]) == ([], []), "the text is the same"
    for words in (("diff", "web", "1", "2"), ("show", "web", "--at", "1", "-f", "json")):
        assert "hush-beta" not in zonda("stack", *words).out


def test_an_excerpt_shows_nothing_that_is_hidden_now(zonda: Zonda, write: Write) -> None:
    """A failure is of an older text, which repeats what is hidden since."""
    text = "  bad: {type: OS::Heat::TestResource, properties: {value: hush-beta, fail: true}}\n"
    template = write("g.yaml", GATED + text)
    zonda("stack", "create", "web", "-t", template, "-P", "word=hush-alpha", code=1)
    good = write("g.yaml", GATED)
    zonda("stack", "update", "web", "-t", good, "-P", "word=hush-beta")
    excerpt = zonda("stack", "why", "web", "--at", "1").out.partition("\n  properties:")[0]
    assert "  bad:" in excerpt
    assert "hush-beta" not in excerpt

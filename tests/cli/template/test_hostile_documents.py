"""Hostile documents at the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

VERSION = "heat_template_version: 2021-04-16\n"
NOTHING = VERSION + "resources: {a: {type: 'OS::Heat::None'}}\n"


def laughs() -> str:
    """A value of 10^12 texts in a few lines."""
    pieces = ["&a0 [l, l, l, l, l, l, l, l, l, l]"]
    for level in range(1, 12):
        pieces.append(f"&a{level} [{', '.join([f'*a{level - 1}'] * 10)}]")
    return f"[{', '.join(pieces)}]"


def with_value(value: str) -> str:
    return (
        VERSION + f"resources: {{a: {{type: 'OS::Heat::Value', properties: {{value: {value}}}}}}}\n"
    )


PLACES = {
    "property": {"t.yaml": with_value(laughs())},
    "default": {
        "t.yaml": NOTHING + f"parameters: {{p: {{type: json, default: {laughs()}}}}}\n",
    },
    "output": {"t.yaml": NOTHING + f"outputs: {{o: {{value: {laughs()}}}}}\n"},
    "capabilities": {"t.yaml": NOTHING + f"capabilities: {{a: {laughs()}}}\n"},
    "environment": {"t.yaml": NOTHING, "e.yaml": f"parameter_defaults: {{p: {laughs()}}}\n"},
    "registry": {"t.yaml": NOTHING, "e.yaml": f"resource_registry: {{p: {laughs()}}}\n"},
    "nested-template": {
        "t.yaml": VERSION + "resources: {a: {type: c.yaml}}\n",
        "c.yaml": with_value(laughs()),
    },
    "group": {
        "t.yaml": VERSION + "resources: {a: {type: 'OS::Heat::ResourceGroup', "
        "properties: {count: 2, resource_def: {type: c.yaml}}}}\n",
        "c.yaml": with_value(laughs()),
    },
    "manifest": {
        "t.yaml": VERSION + "resources: {a: {type: 'X::Y'}}\n",
        "e.yaml": "resource_registry: {'X::Y': m.yaml}\n",
        "m.yaml": f"zonda_type: 'X::Y'\nproperties: {{a: {{type: list, default: {laughs()}}}}}\n",
    },
}


@pytest.mark.parametrize("command", ["template validate", "stack plan s", "stack create s"])
@pytest.mark.parametrize("place", PLACES)
def test_a_billion_laughs_is_refused_with_its_place_wherever_it_stands(
    zonda: Any, write: Callable[[str, str], Path], place: str, command: str
) -> None:
    files = {name: write(name, text) for name, text in PLACES[place].items()}
    environment = ["-e", files["e.yaml"]] if "e.yaml" in files else []
    done = zonda(*command.split(), "-t", files["t.yaml"], *environment, code=2)
    guilty = next(name for name, text in PLACES[place].items() if "&a0" in text)
    assert f"{files[guilty].name}:" in done.err.split(" error: ")[0]
    assert "written out, the aliases up to here have more than 524288 characters" in done.err
    assert "[ZON119]" in done.err


def test_a_billion_laughs_in_a_file_that_is_only_read_is_just_text(
    zonda: Any, write: Callable[[str, str], Path]
) -> None:
    hidden = f"parameters: {{x: {{hidden: true, type: json, default: {laughs()}}}}}\n"
    write("c.yaml", VERSION + hidden)
    template = write("t.yaml", with_value("{get_file: c.yaml}"))
    zonda("stack", "create", "-t", template, "s")
    assert "&a11" in zonda("stack", "export", "s").out


RUNS_AWAY = """\
heat_template_version: 2021-04-16
resources:
  data: {type: 'OS::Heat::Value', properties: {value: [1, 2, 3]}}
  away:
    type: OS::Heat::Value
    properties:
      value: {yaql: {expression: EXPRESSION, data: {get_attr: [data, value]}}}
  beside: {type: 'OS::Heat::Value', properties: {value: {get_attr: [data, value]}}}
"""


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("range(60).aggregate([$1, $1], $)", id="size"),
        pytest.param("range(199).select(range(199).select($ * 2).sum()).sum()", id="steps"),
    ],
)
def test_an_expression_that_runs_away_fails_its_resource_and_the_engine_goes_on(
    zonda: Any, write: Callable[[str, str], Path], expression: str
) -> None:
    each = f"'coalesce($.data, []).select({expression})'"  # nothing to do before it is there
    template = write("t.yaml", RUNS_AWAY.replace("EXPRESSION", each))
    zonda("stack", "create", "-t", template, "s", code=1)
    rows = {
        row["resource_name"]: row
        for row in zonda("stack", "resource", "list", "s", "-f", "json").data
    }
    assert rows["beside"]["resource_status"] == "CREATE_COMPLETE"
    assert rows["away"]["resource_status"] == "CREATE_FAILED"
    shown = zonda("stack", "resource", "show", "s", "away", "-f", "json").data
    reason = shown["resource_status_reason"]
    assert "resources.away" in reason
    assert "make more than 500000 values (setting max_nodes)" in reason
    for words in (("stack", "why", "s"), ("stack", "failures", "list", "s")):
        assert "Traceback" not in zonda(*words).out  # nobody's code is at fault
    zonda("stack", "delete", "-y", "s")


def group_of(type_: str, key: str, sizes: str) -> str:
    return (
        f"resources: {{a: {{type: '{type_}', properties: {{{sizes}, {key}: {{type: c.yaml}}}}}}}}\n"
    )


WAYS = {
    "type": ("resources: {a: {type: c.yaml, properties: {p: 1}}}\n", "c.yaml"),
    "registry": ("resources: {a: {type: 'X::Y', properties: {p: 1}}}\n", "X::Y"),
    "group": (group_of("OS::Heat::ResourceGroup", "resource_def", "count: 2"), "c.yaml"),
    "scaled-group": (
        group_of("OS::Heat::AutoScalingGroup", "resource", "min_size: 1, max_size: 2"),
        "c.yaml",
    ),
    "for-each": (group_of("Zonda::ForEach", "resource_def", "for_each: [a]"), "c.yaml"),
    "chain": (
        "resources: {a: {type: 'OS::Heat::ResourceChain', properties: {resources: [c.yaml]}}}\n",
        "c.yaml",
    ),
    "template": ("resources: {a: {type: m.yaml}}\n", "c.yaml"),
    "stack": (
        "resources: {a: {type: 'OS::Heat::Stack', properties: {template: {get_file: c.yaml}}}}\n",
        "OS::Heat::Stack",
    ),
}
NO_TEMPLATES = {
    "empty": b"",
    "text": b"just text",
    "list": b"[1]",
    "number": b"5",
    "null": b"null",
    "latin-1": VERSION.encode() + b"# \xe4\n",
    "binary": b"\x00\xff" * 20,
    "no-version": b"resources: {}\n",
    "no-yaml": VERSION.encode() + b"resources: {\n",
    "two-documents": b"a: 1\n---\nb: 2\n",
}


@pytest.mark.parametrize("content", NO_TEMPLATES)
@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_is_no_template_is_told_with_the_way_to_it(
    zonda: Any, write: Callable[[str, str], Path], way: str, content: str
) -> None:
    text, type_ = WAYS[way]
    template = write("t.yaml", VERSION + text)
    environment = write("e.yaml", "resource_registry: {'X::Y': c.yaml}\n")
    write("m.yaml", VERSION + "resources: {b: {type: c.yaml}}\n")
    (template.parent / "c.yaml").write_bytes(NO_TEMPLATES[content])
    done = zonda("template", "validate", "-t", template, "-e", environment, code=2)
    (line,) = [line for line in done.err.splitlines() if " error: " in line]
    assert line.split(":")[0].endswith("c.yaml")
    assert "t.yaml:2:13: on the way: a has the type" in done.err
    assert f"has the type {type_}" in done.err


@pytest.mark.parametrize("with_file", [False, True])
def test_a_file_behind_a_registry_entry_that_is_missing_is_told_and_nothing_else(
    zonda: Any, write: Callable[[str, str], Path], with_file: bool
) -> None:
    """As in a document of a stack, which has an environment and may lack its files."""
    resources = "{a: {type: 'X::Y', properties: {p: 1}}}"
    outputs = "outputs: {o: {value: {get_attr: [a, q]}}}\n"
    document = {
        "template": VERSION + f"resources: {resources}\n" + outputs,
        "environment": {"resource_registry": {"X::Y": "c.yaml"}},
        "resources": {},
        "files": {"c.yaml": "just text"} if with_file else {},
    }
    adopted = write("a.json", json.dumps(document))
    done = zonda("stack", "adopt", "--adopt-file", adopted, "s", code=2)
    (line,) = [line for line in done.err.splitlines() if "error: " in line]
    assert ("is not a JSON object" if with_file else "Could not fetch remote template") in line


GETS = VERSION + "resources: {{a: {{type: 'OS::Heat::Value', properties: {{value: {0}}}}}}}\n"


def test_the_key_of_the_home_cannot_be_had_by_get_file(
    zonda: Any, write: Callable[[str, str], Path]
) -> None:
    zonda("stack", "create", "-t", write("n.yaml", NOTHING), "s")  # makes the key
    template = write("t.yaml", GETS.format("{get_file: home/zonda.key}"))
    assert (template.parent / "home" / "zonda.key").is_file()
    for command in ("template validate", "stack plan x", "stack create x"):
        done = zonda(*command.split(), "-t", template, code=2)
        assert "t.yaml:2:73: error: " in done.err
        assert "belongs to zonda" in done.err
        assert "[ZON155]" in done.err


def test_file_roots_confine_templates_that_are_not_ones_own(
    zonda: Any, write: Callable[[str, str], Path]
) -> None:
    write("other/x", "x")
    template = write("mine/t.yaml", GETS.format("[{get_file: ../other/x}, {get_file: y}]"))
    write("mine/y", "y")
    zonda("template", "validate", "-t", template)
    roots = f"file_roots={template.parent}"
    done = zonda("template", "validate", "-t", template, "--set", roots, code=2)
    assert "setting file_roots" in done.err
    both = f"file_roots={template.parent}:{template.parent.parent / 'other'}"
    zonda("template", "validate", "-t", template, "--set", both)


def test_a_plan_lists_the_files_that_are_not_in_the_templates_folder(
    zonda: Any, write: Callable[[str, str], Path]
) -> None:
    outside = write("other/x", "x")
    template = write("mine/t.yaml", GETS.format("[{get_file: ../other/x}, {get_file: y}]"))
    write("mine/y", "y")
    done = zonda("stack", "plan", "-t", template, "s", "-f", "json")
    assert done.data["files_outside"] == [str(outside)]
    text = zonda("stack", "plan", "-t", template, "s").out
    assert f"Files from outside of the template's folder\n      {outside}\n" in text


def test_an_error_shows_nothing_of_a_pipe_or_a_device(
    zonda: Any, write: Callable[[str, str], Path]
) -> None:
    """The files of a document have the names that it gives them."""
    document = {
        "template": {"heat_template_version": "2018-08-31", "resources": {"a": {"type": "b.yaml"}}},
        "environment": {"resource_registry": {"b.yaml": "/dev/zero"}},
        "resources": {"a": {"type": "/dev/zero"}},
        "files": {"/dev/zero": "[1, 2", "b.yaml": "[1, 2"},
    }
    document["template"]["resources"]["c"] = {
        "type": "OS::Heat::ResourceChain",
        "properties": {"resources": ["/dev/zero"]},
    }
    zonda("stack", "adopt", "--adopt-file", write("a.json", json.dumps(document)), "s", code=2)


HUGE = "9" * 400
NUMBERS = {
    "delay": ("OS::Heat::Delay", f"min_wait: {HUGE}"),
    "text": ("OS::Heat::Delay", f"min_wait: '{HUGE}'"),
    "infinity": ("OS::Heat::Delay", "min_wait: .inf"),
    "no-number": ("OS::Heat::Delay", "min_wait: .nan"),
    "hexadecimal": ("OS::Heat::RandomString", "length: 0x" + "f" * 330),
    "base-60": ("OS::Heat::ResourceGroup", "resource_def: {}, count: 1" + ":59" * 200),
}


@pytest.mark.parametrize("number", NUMBERS)
def test_a_property_that_no_plug_in_can_compute_with_is_an_error_with_its_place(
    zonda: Any, write: Callable[[str, str], Path], number: str
) -> None:
    type_, given = NUMBERS[number]
    resource = f"{{type: '{type_}', properties: {{{given}}}}}"
    template = write("t.yaml", VERSION + f"resources: {{a: {resource}}}\n")
    done = zonda("stack", "create", "-t", template, "s", code=2)
    assert "t.yaml:2:" in done.err
    assert "resources.a" in done.err
    assert "OverflowError" not in done.err


@pytest.mark.parametrize(
    "section",
    [
        pytest.param(f"timeouts: {{a: {HUGE}}}", id="timeout"),
        pytest.param(f"timeouts: {{a: {{create: -{HUGE}}}}}", id="timeout-of-an-action"),
        pytest.param("timeouts: {a: .inf}", id="endless-timeout"),
        pytest.param(f"retries: {{a: {{attempts: 2, delay: {HUGE}}}}}", id="delay"),
        pytest.param(f"retries: {{a: {HUGE}}}", id="attempts"),
        pytest.param(f"drift: {{schedule: {HUGE}}}", id="schedule"),
        pytest.param(f"drift: {{schedule: {HUGE}h}}", id="schedule-as-text"),
    ],
)
def test_a_time_of_400_digits_is_an_error_with_its_place(
    zonda: Any, write: Callable[[str, str], Path], section: str
) -> None:
    environment = write("e.yaml", f"zonda: {{{section}}}\n")
    template = write("t.yaml", NOTHING)
    done = zonda("stack", "create", "-t", template, "-e", environment, "s", code=2)
    assert "e.yaml:1:" in done.err.split(" error: ")[0]


NO_JSON = {
    "a number has more than 4300 digits": '{"a": ' + "9" * 4301 + "}",
    "nested deeper than 200 levels": '{"a": ' + "[" * 300 + "]" * 300 + "}",
    "nested deeper than 200": '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}",
}


@pytest.mark.parametrize("said", NO_JSON)
def test_json_beyond_what_can_be_kept_is_an_error_wherever_it_comes_from(
    zonda: Any, write: Callable[[str, str], Path], said: str
) -> None:
    text = NO_JSON[said]
    json_file = write("a.json", text)
    zonda("stack", "create", "-t", write("n.yaml", NOTHING), "s")
    parameters = "parameters: {p: {type: json, default: {}}}\n"
    template = write("t.yaml", NOTHING + parameters)
    for words in (
        ("stack", "adopt", "--adopt-file", json_file, "t"),
        ("stack", "apply", json_file),
        ("stack", "resource", "signal", "s", "a", "--data-file", json_file),
        ("stack", "create", "-t", template, "--parameter-file", f"p={json_file}", "t"),
    ):
        assert said in zonda(*words, code=2).err


@pytest.mark.parametrize("key", ["tags", "masked"])
@pytest.mark.parametrize("value", [5, "text", {"a": 1}, True])
def test_a_document_whose_lists_are_none_is_refused(
    zonda: Any, write: Callable[[str, str], Path], key: str, value: Any
) -> None:
    document = {"template": NOTHING, "resources": {}, key: value}
    done = zonda(
        "stack", "adopt", "--adopt-file", write("a.json", json.dumps(document)), "s", code=2
    )
    assert f"'{key}' is no list" in done.err


def test_a_plan_of_few_files_that_would_make_very_many_resources_ends_at_the_limit(
    zonda: Any, write: Callable[[str, str], Path]
) -> None:
    for level, type_ in enumerate(("t1.yaml", "t2.yaml", "t3.yaml", "'OS::Heat::None'")):
        resources = ", ".join(f"a{number}: {{type: {type_}}}" for number in range(10))
        write(f"t{level}.yaml", VERSION + f"resources: {{{resources}}}\n")
    words = ("stack", "plan", "-t", write("t0.yaml", (VERSION + "resources: {}\n")), "s")
    write("t0.yaml", VERSION + "resources: {a: {type: t1.yaml}, b: {type: t1.yaml}}\n")
    done = zonda(*words, "--set", "max_resources_per_stack=300", "-f", "json")
    assert done.data["fails"]
    assert done.data["summary"]["create"] <= 300
    assert "300" in json.dumps(done.data["resources"])


@pytest.mark.parametrize(
    ("key", "value"), [("timeout", HUGE), ("timeout", ".inf"), ("retries", "9" * 4000)]
)
def test_a_number_in_a_manifest_that_nobody_waits_for_is_an_error_with_its_place(
    zonda: Any, write: Callable[[str, str], Path], key: str, value: str
) -> None:
    actions = f"actions: {{CREATE: {{workflow: w, {key}: {value}}}}}\n"
    write("m.yaml", f"zonda_type: 1\nname: X::Y\nproperties: {{}}\n{actions}")
    environment = write("e.yaml", "resource_registry: {'X::Y': m.yaml}\n")
    template = write("t.yaml", VERSION + "resources: {a: {type: 'X::Y'}}\n")
    done = zonda("template", "validate", "-t", template, "-e", environment, code=2)
    assert "m.yaml:4:" in done.err
    assert f"{key} must be " in done.err

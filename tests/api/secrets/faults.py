"""Templates that a hidden value makes fail, in every place whose error could quote the value."""

from __future__ import annotations

from typing import Any

HOT = {"heat_template_version": "2018-08-31"}
VALUE = {"get_param": "hidden"}


def make(value: Any = VALUE, more: Any = None, **resources: Any) -> dict[str, Any]:
    """A template with an output; ``more``: keys of the declaration of the parameter."""
    return {
        **HOT,
        "parameters": {"hidden": {"type": "string", "hidden": True, **(more or {})}},
        "resources": resources,
        "outputs": {"o": {"value": value}},
    }


def make_one(kind: str, **properties: Any) -> dict[str, Any]:
    """A template with one resource."""
    return make(one={"type": kind, "properties": properties})


def make_late(kind: str, **properties: Any) -> dict[str, Any]:
    """A template whose resource gets the value while the stack is created."""
    first = {"type": "OS::Heat::TestResource", "properties": {"value": VALUE}}
    return make(a=first, one={"type": kind, "properties": properties})


LATE = {"get_attr": ["a", "output"]}
_TEST, _RANDOM = "OS::Heat::TestResource", "OS::Heat::RandomString"
_CONSTRAINTS: dict[str, Any] = {
    "length": {"length": {"max": 3}},
    "pattern": {"allowed_pattern": "[0-9]+"},
    "values": {"allowed_values": ["a", "b"]},
    "custom": {"custom_constraint": "ip_addr"},
}
_FUNCTIONS: dict[str, Any] = {
    "str_split": {"str_split": [",", VALUE, 99]},
    "digest": {"digest": ["none", VALUE]},
    "digest-name": {"digest": [VALUE, "x"]},
    "deep": {"get_param": ["hidden", "deep"]},
    "yaql": {"yaql": {"expression": "$.data.x.nothing()", "data": {"x": VALUE}}},
    "yaql-text": {"yaql": {"expression": VALUE, "data": {}}},
    "strict": {"str_replace_strict": {"template": "x", "params": {"$none": VALUE}}},
    "strict-key": {"str_replace_strict": {"template": VALUE, "params": {"$none": "x"}}},
    "replace-map": {"str_replace": {"template": "x", "params": VALUE}},
    "repeat": {"repeat": {"for_each": {"<%x%>": VALUE}, "template": "<%x%>"}},
    "join": {"list_join": [",", VALUE]},
    "concat": {"list_concat": [VALUE, ["x"]]},
    "merge": {"map_merge": [VALUE]},
    "map-replace": {"map_replace": [VALUE, {"keys": {"a": "b"}}]},
    "filter": {"filter": [VALUE, VALUE]},
    "url-port": {"make_url": {"scheme": "http", "host": "h", "port": VALUE}},
    "url-query": {"make_url": {"scheme": "http", "host": "h", "query": VALUE}},
    "attribute": {"get_attr": ["nothing", VALUE]},
    "if": {"if": [VALUE, "a", "b"]},
    "file": {"get_file": VALUE},
    "contains": {"contains": ["x", VALUE]},
}

FAULTS: dict[str, dict[str, Any]] = {
    **{
        f"parameter-{key}": make(more={"constraints": [value]})
        for key, value in _CONSTRAINTS.items()
    },
    **{
        f"parameter-{kind}": make(more={"type": kind})
        for kind in ("number", "json", "boolean", "comma_delimited_list")
    },
    "default": make(more={"type": "number", "default": "HIDDEN"}),
    "default-constraint": make(more={"default": "HIDDEN", "constraints": [{"length": {"max": 3}}]}),
    **{f"output-{key}": make(value) for key, value in _FUNCTIONS.items()},
    **{f"property-{key}": make_one(_TEST, value=value) for key, value in _FUNCTIONS.items()},
    "number": make_one(_RANDOM, length=VALUE),
    "boolean": make_one(_TEST, fail=VALUE),
    "map": make_one(_TEST, action_wait_secs=VALUE),
    "list": make_one(_RANDOM, character_classes=VALUE),
    "inside": make_one(_RANDOM, character_classes=[{"class": VALUE}]),
    "allowed": make_one("OS::Heat::WaitConditionHandle", signal_transport=VALUE),
    "literal": make_one("Test::Thing", folder="/", secret=["HIDDEN"]),
    "count": make_one("OS::Heat::ResourceGroup", count=VALUE, resource_def={"type": _TEST}),
    "template": make_one("OS::Heat::Stack", template=VALUE),
    "template-text": make_one(
        "OS::Heat::Stack",
        template={"str_replace": {"template": "a: [X: ]", "params": {"X": VALUE}}},
    ),
    "nested": make_one("number.yaml", p=VALUE),
    "group": make_one(
        "OS::Heat::SoftwareDeployment", config=VALUE, server="s", signal_transport=VALUE
    ),
    "multipart": make_one("OS::Heat::MultipartMime", parts=[{"config": VALUE, "type": VALUE}]),
    "late-number": make_late(_RANDOM, length=LATE),
    "late-map": make_late(_TEST, action_wait_secs=LATE),
    "late-nested": make_late("number.yaml", p=LATE),
    "late-template": make_late("OS::Heat::Stack", template=LATE),
    "late-count": make_late("OS::Heat::ResourceGroup", count=LATE, resource_def={"type": _TEST}),
    "late-function": make_late(_TEST, value={"digest": ["none", LATE]}),
    "late-file": make_late("Test::Thing", folder=LATE),
}
FILES = {
    "number.yaml": "heat_template_version: 2018-08-31\n"
    "parameters: {p: {type: number, hidden: true}}\n"
    "outputs: {o: {value: {get_param: p}}}\n"
}

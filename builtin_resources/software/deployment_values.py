"""Values of a deployment: its inputs from a configuration, and its outputs. Pure functions.

Used by ``deployment``; knows no resource.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from zonda.hooks import ResourceFailure

from .schema import (
    COMPONENT,
    CONFIG,
    DEFAULT,
    DESCRIPTION,
    ERROR_OUTPUT,
    GROUP,
    INPUTS,
    NAME,
    OUTPUTS,
    REPLACE,
    TYPE,
    UNGROUPED,
    VALUE,
)

STDOUT, STDERR, STATUS_CODE = "deploy_stdout", "deploy_stderr", "deploy_status_code"
STANDARD_OUTPUTS = (STDOUT, STDERR, STATUS_CODE)

#: The configuration of a deployment without one.
NOTHING: Mapping[str, Any] = {GROUP: UNGROUPED, CONFIG: None, INPUTS: [], OUTPUTS: []}

Input = dict[str, Any]


def find_actions(config: Mapping[str, Any], chosen: Iterable[str]) -> set[str]:
    """The actions of a deployment: as a component says, else ``chosen``."""
    if config[GROUP] != COMPONENT:
        return set(chosen)
    return {action for entry in config[CONFIG]["configs"] for action in entry["actions"]}


def build_inputs(
    config: Mapping[str, Any], values: Mapping[str, Any], standard: Mapping[str, tuple[Any, str]]
) -> list[Input]:
    """The inputs with their values: declared ones, further ``values``, then the ``standard`` ones.

    ``standard``: name -> (value, description).
    """
    left = dict(values)
    found = [
        {**declared, VALUE: left.pop(declared[NAME], declared.get(DEFAULT))}
        for declared in config[INPUTS]
    ]
    found += [{NAME: name, TYPE: "String", VALUE: value} for name, value in left.items()]
    return found + [
        {NAME: name, TYPE: "String", DESCRIPTION: description, VALUE: value}
        for name, (value, description) in standard.items()
    ]


def map_values(inputs: Iterable[Input]) -> dict[str, Any]:
    """Values by name."""
    return {each[NAME]: each[VALUE] for each in inputs}


def must_be_replaced(inputs: Iterable[Input], before: Mapping[str, Any]) -> bool:
    """Whether an input that may not change in place has another value than ``before``."""
    return any(
        each.get(REPLACE) and each[NAME] in before and each[VALUE] != before[each[NAME]]
        for each in inputs
    )


def fill_inputs(snippet: Any, key: str, values: Mapping[str, Any], strict: bool) -> Any:
    """``snippet`` with each ``{key: NAME}`` replaced by the value of that input.

    An input that is not there is null; if ``strict``, that is a ResourceFailure.
    """
    if isinstance(snippet, Mapping):
        if len(snippet) == 1 and isinstance(snippet.get(key), str):
            name = snippet[key]
            if strict and name not in values:
                raise ResourceFailure(f"The Parameter ({name}) was not provided.")
            return values.get(name)
        return {each: fill_inputs(value, key, values, strict) for each, value in snippet.items()}
    if isinstance(snippet, list):
        return [fill_inputs(item, key, values, strict) for item in snippet]
    return snippet


def read_outcome(
    details: Mapping[str, Any], declared: Iterable[Mapping[str, Any]]
) -> tuple[dict[str, Any], str]:
    """The outputs that ``details`` give, and why the deployment has failed, or ''."""
    outputs: dict[str, Any] = {}
    reasons: dict[str, str] = {}
    code = details.get(STATUS_CODE)
    if code and str(code) != "0":
        reasons[STATUS_CODE] = f"Deployment exited with non-zero status code: {code}"
    for each in declared:
        name = each[NAME]
        if name in details:
            outputs[name] = details[name]
            if each.get(ERROR_OUTPUT):
                reasons[name] = str(details[name])
    outputs.update({name: details.get(name) for name in STANDARD_OUTPUTS})
    return outputs, ", ".join(f"{name} : {reason}" for name, reason in reasons.items())

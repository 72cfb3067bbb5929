"""Errors of an ``OS::Mistral::Workflow`` that its schema cannot find. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from zonda.hooks import Path, ResourceFailure, TemplateError, ValidationErrors

from .workflow_schema import (
    ACTION,
    CONCURRENCY,
    DIRECT,
    ONCE_POLICIES,
    PARAMS,
    POLICIES,
    REQUIRES,
    REVERSE,
    TASKS,
    TYPE,
    WITH_ITEMS,
    WORKFLOW,
)

Stored = Mapping[str, Any]


def check_definition(name: str, stored: Stored) -> None:
    """Raise ValidationErrors with every fault of the resource ``name``."""
    below = ("resources", name, "properties")
    faults = [
        TemplateError(text, path=(*below, *path), label="Property error")
        for path, text in _list_faults(stored)
    ]
    if faults:
        raise ValidationErrors(faults)


def _list_faults(stored: Stored) -> Iterator[tuple[Path, str]]:
    if stored.get(TYPE) == REVERSE and not (stored.get(PARAMS) or {}).get("task_name"):
        text = "'task_name' is not assigned in 'params' in case of reverse type workflow."
        yield (PARAMS,), text
    for index, task in enumerate(stored.get(TASKS) or ()):
        for where, text in _list_task_faults(task, stored.get(TYPE)):
            yield (TASKS, index, *where), text


def _list_task_faults(task: Stored, kind: Any) -> Iterator[tuple[Path, str]]:
    both = f"{WORKFLOW}, {ACTION}"
    if task.get(WORKFLOW) and task.get(ACTION):
        yield (), f"Cannot define the following properties at the same time: {both}."
    if not task.get(WORKFLOW) and not task.get(ACTION):
        yield (), f"At least one of the following properties must be specified: {both}."
    if task.get(REQUIRES) is not None and kind == DIRECT:
        named = task.get("name")
        yield (
            (REQUIRES,),
            f"task {named} contains property 'requires' in case of direct workflow. "
            "Only reverse workflows can contain property 'requires'.",
        )
    for twice in (task.get(POLICIES) or {}).keys() & set(ONCE_POLICIES):
        if task.get(twice) is not None:
            yield (POLICIES,), f"Property {POLICIES} and {twice} cannot be used both at one time."
    if task.get(WITH_ITEMS) is None and task.get(CONCURRENCY) is not None:
        yield (CONCURRENCY,), f"{CONCURRENCY} cannot be specified without {WITH_ITEMS}."


def check_signal(given: Any, params: Any, inputs: Stored) -> None:
    """Raise ResourceFailure for a signal that the workflow cannot be run with."""
    if given is not None and not isinstance(given, Mapping):
        raise ResourceFailure(
            f"Signal data error: input must be a map, not {_describe_kind(given)}"
        )
    if params is not None and not isinstance(params, Mapping):
        raise ResourceFailure(
            f"Signal data error: params must be a map, not {_describe_kind(params)}"
        )
    for name in given or ():
        if name not in inputs:
            raise ResourceFailure(f"Signal data error: Unknown input {name}")


def _describe_kind(value: Any) -> str:
    return {list: "a list", str: "a text", bool: "a boolean"}.get(type(value), "a number")

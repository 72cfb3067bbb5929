"""Reads of one stack: itself, its outputs, its template, environment and files."""

from __future__ import annotations

from zonda.core.reports.export import Sources
from zonda.hooks.errors import NotFound

from ...http.calls import Answer, Call
from ..values import get_bool
from .documents import build_output, build_stack
from .lookup import find_stack


def show_stack(call: Call) -> Answer:
    """The whole of a stack."""
    with_outputs = get_bool(call, "resolve_outputs", default=True)
    return Answer(200, {"stack": build_stack(call, find_stack(call), with_outputs=with_outputs)})


def show_template(call: Call) -> Answer:
    """The template as data, as it was given."""
    return Answer(200, _read_sources(call).data)


def show_environment(call: Call) -> Answer:
    """The environments and parameters of a stack as one environment."""
    return Answer(200, _read_sources(call).environment)


def show_files(call: Call) -> Answer:
    """The files that came with a stack."""
    return Answer(200, _read_sources(call).files)


def _read_sources(call: Call) -> Sources:
    stack = find_stack(call).stack
    return call.project.exporter.read_sources(stack.id, with_secrets=False)


def list_outputs(call: Call) -> Answer:
    """The names of the outputs."""
    found = call.project.resolve_outputs(find_stack(call).stack)
    shown = [
        {"output_key": each.name, "description": each.description or "No description given"}
        for each in found
    ]
    return Answer(200, {"outputs": shown})


def show_output(call: Call) -> Answer:
    """One output with its value."""
    stack, key = find_stack(call).stack, call.path["output"]
    for each in call.project.resolve_outputs(stack):
        if each.name == key:
            return Answer(200, {"output": build_output(each)})
    raise NotFound("Output", key)

"""Creation, adoption, update and deletion of stacks."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from zonda.core.engine.actions import AdoptStack, CreateStack, DeleteStack, UpdateStack
from zonda.core.store.read.views import StackView
from zonda.core.store.values.jsontext import dumps
from zonda.core.template.environment.environment import PARAMETERS
from zonda.core.template.source.bundle import Bundle
from zonda.core.template.source.document import load_document
from zonda.core.template.source.json_text import read_json
from zonda.hooks import records

from ...http.calls import EMPTY, Answer, Call
from ...http.errors import BadRequest
from ..values import parse_bool
from . import requests
from .documents import build_links
from .lookup import find_live_stack

ACCEPTED = Answer(202, "202 Accepted: The request is accepted for processing.", {}, "text/plain")


def create_stack(call: Call) -> Answer:
    """A new stack, or one of existing objects (``adopt_stack_data``)."""
    body = requests.read_body(call)
    name = requests.read_name(body)
    if body.get("converge") is not None:
        raise BadRequest("converge flag only supported in stack update")
    action = (
        build_adoption(call, body, name)
        if body.get("adopt_stack_data")
        else build_creation(call, body, name)
    )
    accepted = call.project.submit(action)
    links = build_links(call, accepted.name, accepted.stack_id)
    shown = {"stack": {"id": accepted.stack_id, "links": links}}
    return Answer(201, shown, {"Location": links[0]["href"]})


def build_creation(call: Call, body: Mapping[str, Any], name: str) -> CreateStack:
    """The creation that a body asks for."""
    return CreateStack(
        name,
        requests.read_bundle(call, body, needs_template=True),
        timeout_mins=requests.read_timeout(body)
        or call.project.service.settings.stack_timeout_mins,
        rollback=requests.read_rollback(body) or False,
        tags=requests.read_tags(body) or (),
    )


def build_adoption(call: Call, body: Mapping[str, Any], name: str) -> AdoptStack:
    """The adoption that a body asks for."""
    settings = call.project.service.settings
    if settings.enable_stack_adopt != "yes":
        raise BadRequest("Stack Adopt not supported", "NotSupported")
    data = body["adopt_stack_data"]
    try:
        data = read_json(data) if isinstance(data, str) else data
    except ValueError as error:
        raise BadRequest(f"Invalid adopt data: {error}") from error
    if not isinstance(data, Mapping) or not data.get("template"):
        raise BadRequest("Invalid adopt data: 'template'")
    given = requests.read_bundle(call, body, needs_template=False)
    kept = {key: data.get(key) for key in ("template", "environment", "files")}
    adopted = requests.read_bundle(call, kept, needs_template=True)
    bundle = records.replace(
        given,
        template=adopted.template,
        environment=given.environment or adopted.environment,
        files={**adopted.files, **given.files},
    )
    return AdoptStack(
        name,
        bundle,
        data.get("resources") or {},
        timeout_mins=requests.read_timeout(body) or settings.stack_timeout_mins,
        rollback=requests.read_rollback(body) or False,
        tags=requests.read_tags(body) or requests.read_tags(data) or (),
    )


def update_stack(call: Call) -> Answer:
    """A stack with another template, which comes whole."""
    stack, body = find_live_stack(call), requests.read_body(call)
    if parse_bool("existing", body.get("existing") or False):
        return patch_stack(call)
    call.project.submit(build_update(call, body, stack, keeps=False))
    return ACCEPTED


def patch_stack(call: Call) -> Answer:
    """A stack with changes to what it has."""
    stack, body = find_live_stack(call), requests.read_body(call)
    call.project.submit(build_patch(call, body, stack))
    return ACCEPTED


def build_update(
    call: Call, body: Mapping[str, Any], stack: StackView, *, keeps: bool
) -> UpdateStack:
    """The update that a body asks for; ``keeps``: what it does not bring stays."""
    if body.get("converge") is not None:
        parse_bool("converge", body["converge"])
    bundle = requests.read_bundle(call, body, needs_template=not keeps)
    tags = requests.read_tags(body)
    if tags is None and not keeps:
        tags = ()
    return UpdateStack(
        stack.id,
        _clear_parameters(bundle, body) if keeps else bundle,
        existing=keeps,
        timeout_mins=requests.read_timeout(body),
        rollback=requests.read_rollback(body),
        tags=tags,
    )


def build_patch(call: Call, body: Mapping[str, Any], stack: StackView) -> UpdateStack:
    """The update of parts that a body asks for.

    An environment comes on top of the stored one; parameters that the template lacks are dropped,
    from environments as well.
    """
    action = build_update(call, body, stack, keeps=True)
    if stack.template_id is None:
        return action
    given = action.bundle
    names = _list_parameters(call, stack, given.template)
    bundle = records.replace(
        given,
        parameters={name: value for name, value in given.parameters.items() if name in names},
        environment=_drop_parameters(call, "environment", given.environment or "", names) or None,
        environment_files=tuple(
            (file, _drop_parameters(call, file, text, names))
            for file, text in given.environment_files
        ),
    )
    return records.replace(action, bundle=bundle)


def _drop_parameters(call: Call, file: str, text: str, names: Collection[str]) -> str:
    """An environment without the parameters that a template lacks."""
    found = _load_map(call, file, text, "environment")
    given = found.get(PARAMETERS)
    if not isinstance(given, Mapping) or all(name in names for name in given):
        return text
    kept = {name: value for name, value in given.items() if name in names}
    return dumps({**found, PARAMETERS: kept})


def _list_parameters(call: Call, stack: StackView, template: str) -> Collection[str]:
    """The parameters of a template, or of the one that the stack has."""
    if not template and stack.template_id is not None:
        return call.project.service.find_definition(stack.template_id).schemas
    declared = _load_map(call, "template", template).get("parameters")
    return declared if isinstance(declared, Mapping) else ()


def _load_map(call: Call, file: str, text: str, what: str = "template") -> Mapping[str, Any]:
    """A template or an environment as data; whether it is a good one is seen later."""
    most = call.project.service.settings.max_template_bytes
    found = load_document(text, file, max_bytes=most, what=what).data if text else {}
    return found if isinstance(found, Mapping) else {}


def _clear_parameters(bundle: Bundle, body: Mapping[str, Any]) -> Bundle:
    names = body.get("clear_parameters") or ()
    if not isinstance(names, (list, tuple)):
        raise BadRequest("clear_parameters must be a list of names")
    cleared = {str(name): None for name in names}
    return records.replace(bundle, parameters={**cleared, **bundle.parameters})


def delete_stack(call: Call) -> Answer:
    """The deletion of a stack, from now on."""
    stack = find_live_stack(call)
    call.project.submit(DeleteStack(stack.id, nested=True))
    return Answer(204, EMPTY)

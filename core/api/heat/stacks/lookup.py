"""Look-ups: a name or an id becomes the canonical URL; the stack of a canonical URL is found."""

from __future__ import annotations

import re

from zonda.core.store.read.pages import ListedStack
from zonda.core.store.read.views import StackView
from zonda.hooks.errors import NotFound

from ...http.calls import Answer, Call

_ARN = re.compile(
    r"arn:openstack:heat::(?P<project>[^:]*):stacks/(?P<name>[^/]+)/(?P<id>[^/]+)(/(?P<part>.+))?"
)

#: Seconds for which the name of a deleted stack still leads to it.
_JUST_DELETED = 60.0


def find_stack(call: Call) -> ListedStack:
    """The stack of a canonical URL, also a deleted one; raises NotFound."""
    return call.project.find_stack(call.path["stack_id"], call.path["stack_name"])


def find_live_stack(call: Call) -> StackView:
    """The stack of a canonical URL; raises NotFound for a deleted one."""
    stack = find_stack(call).stack
    if stack.deleted_at is not None:
        raise NotFound("Stack", stack.name)
    return stack


def redirect_to_stack(call: Call) -> Answer:
    """The canonical URL of a stack, or of a part of it; the client repeats its request there."""
    stack, part = _find(call)
    parts = ["stacks", stack.name, stack.id, *(part.split("/") if part else ())]
    location = call.build_url(*parts, query=call.query)
    body = {
        "message": f"The resource was found at {location}; you should be redirected automatically.",
        "code": "302 Found",
        "title": "Found",
    }
    return Answer(302, body, {"Location": location})


def _find(call: Call) -> tuple[StackView, str]:
    """The stack that is asked for, and which part of it."""
    name = call.path["stack_name"]
    found = _ARN.fullmatch(name)
    if found is None:
        return _find_by_name_or_id(call, name), call.path.get("part", "")
    if found["project"] != call.project.id:
        raise NotFound("Stack", found["name"])
    return call.project.find_stack(found["id"], found["name"]).stack, found["part"] or ""


def _find_by_name_or_id(call: Call, name: str) -> StackView:
    """A live stack, or the one of that name that has just been deleted; raises NotFound.

    So whoever waits by name for the end of a deletion sees it.
    """
    try:
        return call.project.find_by_name_or_id(name)
    except NotFound:
        since = call.project.service.app.clock.now() - _JUST_DELETED
        found = call.project.reader.find_deleted_stack(name, call.project.id, since)
        if found is None:
            raise
        return found

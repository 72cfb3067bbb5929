"""The stack that a page's address names by its id, and addresses of pages.

Called by the handlers of all pages. What belongs to another project is not there.
"""

from __future__ import annotations

from urllib.parse import quote

from zonda.core.store.read.pages import StackQuery
from zonda.core.store.read.views import StackView
from zonda.hooks.errors import NotFound
from zonda.hooks.text.suggestions import suggestion

from ..http.calls import Call

#: The newest stacks, among whose names one that is alike is looked for.
_MOST_NAMES = 1000


def find_stack(call: Call) -> StackView:
    """The stack of a page, also a deleted one; raises NotFound with names that are alike."""
    key, project = call.path["stack_id"], call.project
    try:
        return project.find_stack(key).stack
    except NotFound as missing:
        query = StackQuery(project.id, limit=_MOST_NAMES)
        names = [each.stack.name for each in project.reader.list_stacks(query)]
        raise NotFound("Stack", key, hint=suggestion(key, names)) from missing


def build_path(call: Call, *parts: str) -> str:
    """The address of a page of this project."""
    return "/".join(("/ui", *(quote(part, safe="") for part in (call.project.id, *parts))))


def build_stack_path(call: Call, stack: StackView, *parts: str) -> str:
    """The address of a page of a stack."""
    return build_path(call, "stacks", stack.id, *parts)

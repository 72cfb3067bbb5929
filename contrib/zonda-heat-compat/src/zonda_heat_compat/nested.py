"""The classes of zonda's for types of Heat that are stacks themselves. Made by ``adapter``.

In Heat a handler makes, changes and deletes the nested stack; here it only says what that shall be,
and the engine makes it so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from zonda.hooks import Child, ChildTemplate, NestedStack

from .adapter import Adapted


class NestedAdapted(Adapted, NestedStack):
    """The base of the adapted classes of types on ``StackResource``."""

    has_side_effects = False

    def next_template(self, child: Child | None, applied: int) -> ChildTemplate | None:
        """The template of which the plug-in's own handler would make a stack, once."""
        if applied:
            return None
        is_done = getattr(self.context, "operation", None) is not None
        return _build_template(*self.heat.ask_for_template(is_done))

    def template_for_validation(self) -> ChildTemplate | None:
        """The template that ``child_template`` gives."""
        return _build_template(*self.heat.ask_for_template(False))


def _build_template(template: Any, parameters: Any) -> ChildTemplate:
    """The template as text, since functions in it are functions, whatever its language is."""
    data = getattr(template, "t", template)
    text = data if isinstance(data, str) else json.dumps(data)
    given = parameters or {}
    if isinstance(given.get("parameters"), Mapping):  # a whole environment
        given = given["parameters"]
    return ChildTemplate(
        text=text, parameters={key: each for key, each in given.items() if each is not None}
    )

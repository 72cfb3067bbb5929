"""Resources that are stacks themselves. zonda.hooks has no door for them yet."""

from __future__ import annotations

from typing import Any

from zonda.hooks.errors import NotSupported

from heat.engine import resource


class StackResource(resource.Resource):
    """The base of groups and of other stacks inside stacks: its types are listed as not usable."""

    __zonda_needs__ = (
        "it is a stack inside a stack, which plug-ins cannot make in zonda. Use a template as a "
        "type, or a workflow"
    )

    def child_template(self) -> Any:
        """The template of the stack inside."""
        raise NotImplementedError

    def child_params(self) -> Any:
        """The parameters of the stack inside."""
        raise NotImplementedError

    def create_with_template(self, *given: Any, **named: Any) -> Any:
        raise NotSupported("Plug-ins for Heat cannot make nested stacks in zonda.")

    update_with_template = delete_nested = create_with_template

    def get_output(self, op: str) -> Any:
        """An output of the stack inside."""
        raise NotSupported("Plug-ins for Heat cannot look into nested stacks in zonda.")

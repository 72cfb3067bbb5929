"""Resources that are stacks themselves. Not translated: in Heat their handlers make the stack.

In zonda a type on ``zonda.hooks.resources.nested_stack.NestedStack`` says what its nested stack
shall be, and the engine makes it so: batches, rollbacks and what a crash interrupts are the
engine's. Handlers that make, change and delete a stack whenever they like cannot be told by that.
"""

from __future__ import annotations

from typing import Any

from zonda.hooks import NotSupported

from heat.engine import resource


class StackResource(resource.Resource):
    """The base of groups and of other stacks inside stacks: its types are listed as not usable."""

    __zonda_needs__ = (
        "it is a stack inside a stack, which is written otherwise in zonda. Port it to "
        "zonda.hooks.resources.nested_stack.NestedStack, or use a template as a type"
    )

    def child_template(self) -> Any:
        """The template of the stack inside."""
        raise NotImplementedError

    def child_params(self) -> Any:
        """The parameters of the stack inside."""
        raise NotImplementedError

    def create_with_template(self, *given: Any, **named: Any) -> Any:
        raise NotSupported("Port the type to zonda.hooks.resources.nested_stack.NestedStack.")

    update_with_template = delete_nested = create_with_template

    def get_output(self, op: str) -> Any:
        """An output of the stack inside."""
        raise NotSupported("Port the type to zonda.hooks.resources.nested_stack.NestedStack.")

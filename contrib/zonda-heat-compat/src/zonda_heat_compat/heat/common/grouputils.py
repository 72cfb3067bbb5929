"""Members of groups: of stacks inside stacks, which are written otherwise in zonda."""

from __future__ import annotations

from typing import Any

from zonda.hooks import NotSupported


def _refused(*given: Any, **named: Any) -> Any:
    raise NotSupported("Port the type to zonda.hooks.resources.nested_stack.NestedStack.")


get_size = get_members = get_member_refids = get_member_names = get_resource = _refused
get_rsrc_attr = get_rsrc_id = get_nested_attrs = get_member_definitions = _refused
get_child_template_files = _refused


class GroupInspector:
    """Looks into a group."""

    def __init__(self, *given: Any) -> None:
        _refused()

    from_parent_resource = classmethod(_refused)

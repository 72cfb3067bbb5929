"""Reports on nested stacks: reasons and depth."""

from __future__ import annotations

from pathlib import Path

import pytest

from zonda.core.engine.actions import CreateStack, MarkResource, UpdateStack
from zonda.core.engine.preview.document import build_document
from zonda.core.engine.preview.preview import build_preview
from zonda.core.settings.settings import load_settings
from zonda.core.template.source.bundle import Bundle
from zonda.core.testing.stack import InlineStack
from zonda.hooks.errors import ZondaError

HEAD = "heat_template_version: 2018-08-31\n"


def test_a_nested_stack_is_visited_for_what_is_not_well_in_it(tmp_path: Path) -> None:
    stack = InlineStack(tmp_path, name="s")
    files = {"child.yaml": HEAD + "resources: {b: {type: OS::Heat::TestResource}}"}
    bundle = Bundle(HEAD + "resources: {c: {type: child.yaml}}", files=files)
    stack.engine.run(CreateStack("s", bundle))
    child = stack.resources["c"].physical_id
    stack.engine.run(MarkResource(stack.engine.reader.stack(child).name, "b"))
    told = repr(build_document(build_preview(stack.engine.services, UpdateStack("s", bundle))))
    assert "something in it is not well" in told
    assert "whenever the stack is" not in told
    stack.close()


def test_templates_may_not_lie_deeper_than_can_be_followed() -> None:
    with pytest.raises(ZondaError, match="at most 50"):
        load_settings({"max_nested_depth": "1000"}, {})

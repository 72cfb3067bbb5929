"""Stacks that would have more resources than one may have, also nested ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from zonda.core.template.load import Limits, StackDefinition
from zonda.hooks.errors import ValidationErrors

Tree = Callable[..., StackDefinition]
TWO = "resources: {a: {type: Thing}, b: {type: Thing}}"


@pytest.mark.parametrize(
    ("text", "files", "place"),
    [
        pytest.param(TWO, {}, "root.yaml:2:1", id="of its own"),
        pytest.param("resources: {c: {type: c.yaml}}", {"c.yaml": TWO}, "c.yaml:2:1", id="nested"),
    ],
)
def test_a_stack_may_have_so_many_resources_and_no_more(
    tree: Tree, text: str, files: dict[str, str], place: str
) -> None:
    tree(text, files, limits=Limits(max_resources_per_stack=2))
    with pytest.raises(ValidationErrors) as caught:
        tree(text, files, limits=Limits(max_resources_per_stack=1))
    (fault,) = caught.value.errors
    assert (fault.code, str(fault.place)) == ("ZON153", place)
    assert str(fault).endswith("A stack may have 1 resources; this one would have 2.")

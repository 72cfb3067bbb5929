"""Templates of nested stacks come back from the store unchanged."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.nested_trees import Tree, template


def child(secret: str) -> str:
    return template(
        "a: {type: Test::Box}",
        f"parameters: {{j: {{type: json}}{secret}}}\noutputs: {{o: {{value: {{get_param: j}}}}}}\n",
    )


@pytest.mark.parametrize("given", ["j: {$ref: x, b: 1}", "j: {a: {$ref: x}}", "j: {$tuple: [1]}"])
@pytest.mark.parametrize("secret", ["", ", p: {type: string, default: x, hidden: true}"])
def test_keys_that_begin_with_a_dollar_are_only_keys(bench: Any, given: str, secret: str) -> None:
    root = template(f"c: {{type: child.yaml, properties: {{{given}}}}}")
    files = {"child.yaml": child(secret)}
    tree = Tree(bench)
    tree.create(root, files=files)
    definitions = bench.engine.services.definitions
    now = definitions.read_spec(tree.stacks()["c"].template_id).parameters["j"]
    bench.engine = bench.restart()
    definitions = bench.engine.services.definitions
    template_id = tree.stacks()["c"].template_id
    assert definitions.read_spec(template_id).parameters["j"] == now
    assert definitions.get(template_id).parameters.values["j"] == now
    assert next(iter(now)) in ("$ref", "a", "$tuple")

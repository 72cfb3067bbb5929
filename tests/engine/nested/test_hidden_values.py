"""Values that become secret while they exist are hidden and sealed from then on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.conftest import showing

from zonda.core.engine.actions import CreateStack, UpdateStack
from zonda.core.template.source.bundle import Bundle
from zonda.core.testing.stack import InlineStack

HEAD = "heat_template_version: 2018-08-31\n"
SECRET = "hush-hush-1"
FILES = {
    "child.yaml": HEAD
    + """
parameters: {s: {type: string}}
resources:
  b: {type: OS::Heat::Value, properties: {value: {get_param: s}}}
  deep: {type: deep.yaml, properties: {s: {get_param: s}}}
outputs: {o: {value: {get_attr: [deep, o]}}}
""",
    "deep.yaml": HEAD
    + """
parameters: {s: {type: string}}
resources: {b: {type: OS::Heat::Value, properties: {value: {get_param: s}}}}
outputs: {o: {value: {get_attr: [b, value]}}}
""",
}
ROOT = (
    HEAD
    + """
parameters: {v: {type: string, default: hush-hush-1%s}}
resources:
  c: {type: child.yaml, properties: {s: {get_param: v}}}
  g:
    type: OS::Heat::ResourceGroup
    properties: {resource_def: {type: OS::Heat::Value, properties: {value: {get_param: v}}}}
  p: {type: OS::Heat::Value, properties: {value: {get_param: v}}}
outputs:
  o: {value: {get_attr: [c, o]}}
  g: {value: {get_attr: [g, value]}}
  p: {value: {get_attr: [p, value]}}
"""
)


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[InlineStack]:
    made = InlineStack(tmp_path, name="s")
    yield made
    made.close()


def shown(stack: InlineStack) -> str:
    engine, found = stack.engine, list[object]()
    for each in engine.reader.tree(engine.reader.stack("s").id):
        found += [showing(engine).parameters(each.id), showing(engine).outputs(each.id)]
        found += engine.reader.resources(each.id)
    return repr(found)


def test_what_becomes_hidden_above_is_hidden_below_by_that_update(stack: InlineStack) -> None:
    stack.engine.run(CreateStack("s", Bundle(ROOT % "", files=FILES)))
    assert SECRET in shown(stack)
    hidden = Bundle(ROOT % ", hidden: true", files=FILES)
    assert stack.engine.run(UpdateStack("s", hidden)).state == "UPDATE_COMPLETE"
    assert SECRET not in shown(stack)
    rows = stack._store._connection.execute("SELECT * FROM resource").fetchall()
    assert SECRET not in repr([tuple(row) for row in rows])
    assert stack.outputs == {"o": "(hidden)", "g": "(hidden)", "p": "(hidden)"}


def test_an_update_with_the_same_secrets_touches_nothing(stack: InlineStack) -> None:
    hidden = Bundle(ROOT % ", hidden: true", files=FILES)
    stack.engine.run(CreateStack("s", hidden))
    before = stack.engine.reader.last_event()
    stack.engine.run(UpdateStack("s", hidden))
    root = stack.engine.reader.stack("s")
    events = stack.engine.reader.events(root.id, after=before, limit=1000)
    assert [each.resource_name for each in events if each.resource_name] == []

"""Crashes at every step of a life with breakpoints, attempts and protection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from zonda.core.engine.actions import ClearHooks, CreateStack, DeleteStack, UpdateStack
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import open_store
from zonda.hooks import properties
from zonda.hooks.errors import ResourceFailure
from zonda.hooks.resources.resource import Resource

ENVIRONMENT = """\
resource_registry:
  resources:
    "*": {hooks: [pre-create, post-create, pre-update, post-update, pre-delete, post-delete]}
zonda:
  retries: {"*": {attempts: 3, delay: 5}}
  timeouts: {"*": 10m}
"""
FIRST = """\
a: {type: My::Thing, properties: {fixed: one}}
b: {type: My::Thing, properties: {fixed: one}, depends_on: a, deletion_policy: Snapshot}
"""
SECOND = """\
a: {type: My::Thing, properties: {fixed: one, free: two}}
b: {type: My::Thing, properties: {fixed: two}, depends_on: a, deletion_policy: Snapshot}
"""


class Outside:
    """The world: what exists, what was saved, and what was done to what does not exist."""

    def __init__(self) -> None:
        self.things: set[str] = set()
        self.saved: set[str] = set()


def thing(outside: Outside) -> type[Resource]:
    """A type whose first attempt at anything fails, in the handler or in the check."""

    class Thing(Resource):
        start_policy = "idempotent"
        properties_schema: ClassVar[Any] = {
            "fixed": properties.Schema("String"),
            "free": properties.Schema("String", update_allowed=True),
        }

        def _key(self) -> str:
            assert self.context.operation is not None
            return self.context.operation.id

        def _fails_first(self, token: Any = None) -> bool:
            operation = self.context.operation
            assert operation is not None
            if operation.attempt < 2:
                raise ResourceFailure("not yet")
            return True

        def handle_create(self) -> str:
            outside.things.add(self._key())
            self.resource_id_set(self._key())
            return self._key()

        def handle_update(self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any) -> None:
            assert self.resource_id in outside.things
            self._fails_first()

        def handle_snapshot(self) -> None:
            assert self.resource_id in outside.things
            outside.saved.add(str(self.resource_id))

        def handle_delete(self) -> None:
            outside.things.discard(str(self.resource_id))

        check_create_complete = _fails_first

    return Thing


class Life:
    """One life, with a crash after so many moves of the engine."""

    def __init__(self, make: Callable[[Any], Any], crash_after: int) -> None:
        self.outside = Outside()
        self.store = open_store(":memory:", sealer=Sealer(make_key()))
        self.bench = make(self.store)
        self.bench.types["My::Thing"] = thing(self.outside)
        self.bench.restart()
        self._left = crash_after
        self.crashed = False

    def run(self, action: Any) -> Any:
        stack_id = self.bench.engine.begin(action).stack_id
        for _ in range(100):
            self._settle()
            stack = self.bench.engine.reader.stack(stack_id)
            if stack.idle:
                return stack
            self.bench.engine.begin(ClearHooks(stack_id, ("*",)))
        raise AssertionError("it never ends")

    def _settle(self) -> None:
        while self.bench.engine._run_once():
            self._left -= 1
            if self._left == 0:
                self.crashed = True
                self.bench.restart().recover()


@pytest.mark.parametrize("dozen", range(5))
def test_a_crash_at_every_step_changes_nothing_of_the_end(bench: Any, dozen: int) -> None:
    after, crashed = dozen + 1, True
    while crashed:
        life = Life(type(bench), after)

        created = life.run(CreateStack("s", life.bench.bundle(FIRST, environment=ENVIRONMENT)))
        assert created.state == "CREATE_COMPLETE", after
        assert len(life.outside.things) == 2, after
        bundle = life.bench.bundle(SECOND, environment=ENVIRONMENT)
        updated = life.run(UpdateStack("s", bundle))
        assert updated.state == "UPDATE_COMPLETE", after
        assert len(life.outside.things) == 2, after
        assert len(life.outside.saved) == 1, after
        assert life.run(DeleteStack("s")).state == "DELETE_COMPLETE", after
        assert (life.outside.things, len(life.outside.saved)) == (set(), 2), after

        crashed = life.crashed
        life.store.close()
        after += 5

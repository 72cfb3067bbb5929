"""Stacks with nested ones, for tests: made of files, looked at as a whole."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from zonda.core.engine.actions import Action, CreateStack, UpdateStack
from zonda.core.store.read.views import StackView
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.template.source.bundle import Bundle

VERSION = "heat_template_version: 2018-08-31\n"


def template(resources: str, rest: str = "") -> str:
    """A template with these resources."""
    body = textwrap.indent(textwrap.dedent(resources).strip("\n"), "  ")
    return VERSION + textwrap.dedent(rest) + ("resources:\n" + body + "\n" if body.strip() else "")


#: The root owns ``c`` (and a box beside it), that ``d``: two levels below.
CHILD = template(
    """
    a: {type: Test::Vault, properties: {value: {get_param: v}}}
    d: {type: leaf.yaml, properties: {v: {get_param: v}}, depends_on: a}
    """,
    "parameters: {v: {type: string, default: one}}\n"
    "outputs: {o: {value: {get_attr: [a, value]}}}\n",
)
LEAF = template(
    "b: {type: Test::Vault, properties: {value: {get_param: v}}}",
    "parameters: {v: {type: string}}\noutputs: {o: {value: {get_attr: [b, value]}}}\n",
)
FILES = {"child.yaml": CHILD, "leaf.yaml": LEAF}


def root(value: str = "one") -> str:
    """The root, with a value that reaches down to the leaf."""
    return template(
        f"""
        r: {{type: Test::Box}}
        c: {{type: child.yaml, properties: {{v: {value}}}, depends_on: r}}
        """
    )


class Tree:
    """A bench with nested stacks: the stack ``s``."""

    def __init__(self, bench: Any) -> None:
        self.bench = bench

    def bundle(
        self, text: str, files: Mapping[str, str] | None = None, environment: str | None = None
    ) -> Bundle:
        return Bundle(text, environment=environment, files=FILES if files is None else files)

    def create(self, text: str, *, rollback: bool = False, **given: Any) -> StackView:
        action = CreateStack("s", self.bundle(text, **given), rollback=rollback)
        found: StackView = self.bench.run(action)
        return found

    def update(self, text: str, *, rollback: bool = False, **given: Any) -> StackView:
        return self.run(UpdateStack("s", self.bundle(text, **given), rollback=rollback))

    def begin(self, action: Action, until: Any = None) -> None:
        """Plan an action and go on until ``until()`` is true."""
        self.bench.engine.begin(action)
        for _ in range(500):
            if until is None or until():
                return
            self.bench.engine._run_once()
        raise AssertionError("it never came so far")

    def settle(self) -> StackView:
        self.bench.engine.settle()
        found: StackView = self.bench.stack
        return found

    def run(self, action: Action) -> StackView:
        found: StackView = self.bench.run(action)
        return found

    @property
    def reader(self) -> Any:
        return self.bench.engine.reader

    def stacks(self) -> dict[str, StackRow]:
        """The stacks of the tree by the way to them: '', 'c', 'c/d'."""
        rows = self.reader.tree(self.bench.stack.id)
        owners = {row.id: row for each in rows for row in self.rows(each)}
        ways: dict[str, str] = {}
        found: dict[str, StackRow] = {}
        for row in rows:
            owner = owners.get(row.owner_resource_id or "")
            above = "" if owner is None else ways[owner.stack_id]
            way = "" if owner is None else f"{above}/{owner.name}".strip("/")
            ways[row.id], found[way] = way, row
        return found

    def rows(self, stack: StackRow) -> list[ResourceRow]:
        found: list[ResourceRow] = self.reader.resource_rows(stack.id)
        return found

    def resource(self, way: str) -> ResourceRow:
        """The present instance at ``c/d/b``."""
        above, _, name = way.rpartition("/")
        return next(
            row
            for row in self.rows(self.stacks()[above])
            if row.name == name and row.want == "PRESENT"
        )

    def states(self) -> dict[str, str]:
        """Every present resource of the tree by the way to it."""
        return {
            f"{way}/{row.name}".strip("/"): f"{row.action}_{row.status}"
            for way, stack in self.stacks().items()
            for row in self.rows(stack)
            if row.want == "PRESENT"
        }

    def calls(self, name: str) -> list[str]:
        found: list[str] = self.bench.journal.of(name)
        return found

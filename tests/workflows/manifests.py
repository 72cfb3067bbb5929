"""A manifest for tests, and what reads one."""

from __future__ import annotations

from typing import Any

from zonda.core.template.source.document import load_document
from zonda.hooks.runners import Finished, Succeeded
from zonda.hooks.testing import FakeContext, FakeRunner, Lifecycle
from zonda.workflows.manifest.parser import read_manifest

DISK = """
zonda_type: 1
name: Acme::Disk
description: A disk.
properties:
  size: {type: integer, required: true, constraints: [{range: {min: 1}}]}
  pool: {type: string, default: fast}
  tags: {type: map}
attributes:
  path: {type: string}
  summary: {value: {list_join: [" ", [{get_property: pool}, {get_property: size}]]}}
replace_on: [pool]
actions:
  CREATE: {workflow: mk, input: {size: {get_property: size}, tags: {get_property: tags}}}
  UPDATE: up
  DELETE: rm
  CHECK: {workflow: look, observes: [size, tags]}
"""


def type_of(text: str = DISK) -> Any:
    """The class of a manifest."""
    return read_manifest(load_document(text, "disk.yaml"))


def ends(**output: Any) -> list[Finished]:
    """A run that ends at once, with this output."""
    return [Finished(Succeeded(output))]


def a_runner(**answers: Any) -> FakeRunner:
    """Makes a disk ``d1``; ``answers`` are what else its workflows give."""
    usual = {"mk": ends(resource_id="d1", path="/a"), "up": ends(), "rm": ends()}
    return FakeRunner({**usual, "look": ends(size=3), **answers})


def a_life(runner: FakeRunner, text: str = DISK, **properties: Any) -> Lifecycle:
    """A disk of size 3, if nothing else is said."""
    context = FakeContext(runners={"default": runner})
    return Lifecycle(type_of(text), {"size": 3, **properties}, context=context)

"""Nested stacks: the option for the depth, names with a path in them, and the stack at the top."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from zonda.core.store.read import trees
from zonda.core.store.read.views import StackView
from zonda.hooks.errors import UsageError

from ..arguments import Declaration, argument
from ..session import Session


def depth(what: str) -> Declaration:
    """Declare ``--nested-depth``; ``what``: the thing that is shown of nested stacks, too."""
    return argument(
        "-n",
        "--nested-depth",
        metavar="N",
        type=int,
        default=0,
        help=f"also {what} of nested stacks, N levels down",
    )


def get_depth(arguments: argparse.Namespace) -> int:
    """Return the number of levels down; raises UsageError for a negative number."""
    if arguments.nested_depth < 0:
        raise UsageError("--nested-depth is a number of levels: 0, 1, 2 and so on.")
    return int(arguments.nested_depth)


def split_address(stack: str, resource: str) -> tuple[str, str]:
    """Split the path of a nested resource into stack and name: ``db`` of ``STACK/web``."""
    above, slash, name = resource.rpartition("/")
    return (f"{stack}/{above}", name) if slash else (stack, resource)


def group_by_stack(stack: str, resources: Iterable[str]) -> dict[str, list[str]]:
    """Group resources by their stacks, each name once."""
    found: dict[str, list[str]] = {}
    for each in dict.fromkeys(resources):
        owner, name = split_address(stack, each)
        found.setdefault(owner, []).append(name)
    return found


def find_root_stack(session: Session, name: str) -> StackView:
    """Find the stack at the top of a tree, which actions and checks are for."""
    stack = session.app.stacks.find(name)
    return stack if stack.root_id == stack.id else session.app.stacks.find(stack.root_id)


def resolve_scope(
    session: Session, name: str, resources: Iterable[str]
) -> tuple[StackView, list[str]]:
    """Find the root stack, and the paths from there; a nested stack gives its owner's."""
    stack = session.app.stacks.find(name)
    if stack.id == stack.root_id:
        return stack, list(resources)
    _, way = trees.Owners(session.app.reader, stack.root_id).of(stack)
    above = (way or "").partition("/")[2]
    return find_root_stack(session, name), [f"{above}/{each}" for each in resources] or [above]

"""Shared options for nested stacks: the depth, and names with a path in them."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

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


def find_root(session: Session, stack_id: str) -> StackView:
    """Find the stack at the top of a tree, which all actions are for."""
    stack = session.app.stacks.find(stack_id)
    return stack if stack.root_id == stack.id else session.app.stacks.find(stack.root_id)

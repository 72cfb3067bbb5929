"""What commands share for nested stacks: how deep to look, and names with the way down in them."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from zonda.core.store.read.views import StackView
from zonda.hooks.errors import UsageError

from ..session import Session


def add_depth(parser: argparse.ArgumentParser, what: str) -> None:
    """``--nested-depth``; ``what``: what is shown of nested stacks, too."""
    parser.add_argument(
        "-n",
        "--nested-depth",
        metavar="N",
        type=int,
        default=0,
        help=f"also {what} of nested stacks, N levels down",
    )


def depth(arguments: argparse.Namespace) -> int:
    """How many levels down; raises UsageError for a negative number."""
    if arguments.nested_depth < 0:
        raise UsageError("--nested-depth is a number of levels: 0, 1, 2 and so on.")
    return int(arguments.nested_depth)


def address(stack: str, resource: str) -> tuple[str, str]:
    """The stack and the name of a resource that may be nested: ``db`` of ``STACK/web``."""
    above, slash, name = resource.rpartition("/")
    return (f"{stack}/{above}", name) if slash else (stack, resource)


def by_stack(stack: str, resources: Iterable[str]) -> dict[str, list[str]]:
    """The stacks that resources are in, with their names there, each once."""
    found: dict[str, list[str]] = {}
    for each in dict.fromkeys(resources):
        owner, name = address(stack, each)
        found.setdefault(owner, []).append(name)
    return found


def root_of(session: Session, stack_id: str) -> StackView:
    """The stack at the top of a tree: the one that actions are for."""
    stack = session.app.stack(stack_id)
    return stack if stack.root_id == stack.id else session.app.stack(stack.root_id)

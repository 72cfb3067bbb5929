"""The argument ``--simulate``: a new stack of which nothing is made."""

from __future__ import annotations

import argparse

from zonda.core.template.source.bundle import Bundle
from zonda.hooks import records
from zonda.hooks.errors import UsageError

from ..session import Session


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the argument."""
    parser.add_argument(
        "--simulate",
        action="store_true",
        help="make nothing of the types of the setting simulated_types, now and in all that is "
        "done to the stack later",
    )


def simulate(session: Session, arguments: argparse.Namespace, bundle: Bundle) -> Bundle:
    """The bundle of a new stack, marked as simulated if that was asked for."""
    if not arguments.simulate:
        return bundle
    if session.settings.url:
        raise UsageError(
            "A server makes its stacks for real.",
            hint="Without ZONDA_URL and --url --simulate makes a stack on this machine.",
        )
    patterns = (each.strip() for each in session.settings.simulated_types.split(","))
    return records.replace(bundle, simulated=tuple(filter(None, patterns)))


def refuse_for_existing(arguments: argparse.Namespace, name: str) -> None:
    """Raise UsageError for a stack that exists, which is simulated from its creation or never."""
    if arguments.simulate:
        raise UsageError(
            f"The stack {name} exists: --simulate is for a new one.",
            hint="What is done to a simulated stack is simulated without it.",
        )

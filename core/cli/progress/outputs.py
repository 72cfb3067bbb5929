"""Outputs of a stack as a list and as fields."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from zonda.hooks.errors import ZondaError
from zonda.hooks.text.redaction import MASK

from ..console import formats, streams
from ..session import Session

if TYPE_CHECKING:
    from zonda.core.store.read.views import OutputView


_SEALED = "sealed"


_COLUMNS = ("output_key", "output_value", "description")


def show_all(session: Session, arguments: argparse.Namespace, found: Iterable[OutputView]) -> None:
    """Show several outputs: a list, or a map by name where the format has one."""
    if arguments.format == formats.SHELL:
        formats.write_variables(
            session.screen.out, arguments, {shown.name: shown.value for shown in found}
        )
    elif arguments.format in ("json", "yaml") and not arguments.column:
        formats.write_data(
            session.screen.out, arguments.format, {shown.name: as_fields(shown) for shown in found}
        )
    else:
        rows = [(shown.name, shown.value, shown.description) for shown in found]
        session.show_rows(arguments, _COLUMNS, rows, _COLUMNS[2:])


def show_at_end(session: Session, stack_id: str) -> None:
    """Show the outputs of a stack after a successful action, if it has any.

    Nobody has asked for generated passwords here, so that they do not get into a log.
    """
    if not _may_have_outputs(session):
        return
    screen, stack = session.screen, session.app.reader.stack_by_id(stack_id)
    try:
        found = session.app.stacks.make_values().outputs(stack_id)
    except ZondaError as error:  # what was done has been done
        screen.say(f"{screen.colour_message('warning', 'yellow')}: {error}")
        return
    if not found:
        return
    as_table = argparse.Namespace(format="table", column=[])
    rows = [(each.name, each.error or _mask_sealed(each)) for each in found]
    with streams.ignore_closed_output():
        session.show_rows(as_table, _COLUMNS[:2], rows)
    if any(each.secrecy == _SEALED for each in found):
        screen.say(f"'zonda stack output show {stack.name} --all' shows what is sealed.")


def _may_have_outputs(session: Session) -> bool:
    """Whether the template of this command has outputs: else none is loaded once more for them."""
    given = session.template
    document = None if given is None else given.documents.get(given.template_file)
    return document is None or not document.data.keys().isdisjoint(("outputs", "Outputs"))


def _mask_sealed(shown: OutputView) -> Any:
    return MASK if shown.secrecy == _SEALED else shown.value


def as_fields(shown: OutputView) -> dict[str, Any]:
    """Return an output with the names of Heat's API; ``output_error`` only where there is one."""
    fields = {
        "output_key": shown.name,
        "output_value": shown.value,
        "description": shown.description,
    }
    return {**fields, "output_error": shown.error} if shown.error else fields

"""``zonda stack export``, ``abandon`` and ``adopt``: a stack as a document, in Heat's format."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from zonda.core.engine.actions import AbandonStack, AdoptStack
from zonda.core.template.files.reader import read_text
from zonda.core.template.source.bundle import Bundle
from zonda.core.template.source.json_text import read_json
from zonda.hooks import records
from zonda.hooks.errors import Conflict, UsageError

from ..arguments import STACK, YES, argument, exclusive, takes
from ..console import formats, streams
from ..options import template as bundles
from ..progress import busy_stacks, result
from ..progress.run_action import wait_for_end
from ..session import Session
from . import partial
from .create_update_delete import action_arguments, parse_tags

_FILE = argument(
    "-o",
    "--output-file",
    metavar="FILE",
    help="write the document into this new file, for its owner alone, not to standard output",
)


@takes(
    STACK,
    _FILE,
    argument("--with-secrets", action="store_true", help="put hidden values in, too"),
)
def export(session: Session, arguments: argparse.Namespace) -> None:
    """Print the document of ``stack abandon``, and change nothing."""
    stack = session.app.stacks.find(arguments.stack)
    made = session.app.exporter.export(stack.id, with_secrets=arguments.with_secrets)
    _write_document(session, arguments.output_file, made.values)
    if made.hidden:
        session.screen.say(
            f"{len(made.hidden)} hidden values are left out (see 'masked'); "
            "--with-secrets puts them in."
        )
    _say_leftovers(session, made.values.get("leftovers", ()))


def _say_leftovers(session: Session, left: Sequence[Mapping[str, Any]]) -> None:
    """Print the existing instances that no template contains."""
    for each in left:
        known, state = each["resource_id"] or "no id known", f"{each['action']}_{each['status']}"
        session.screen.say(
            f"Left over of {each['name']} ({each['type']}): {known}, {state}; see 'leftovers'."
        )


@takes(
    STACK,
    _FILE,
    exclusive(
        argument(
            "--with-secrets", action="store_true", help="put hidden values into the document, too"
        ),
        argument("--without-secrets", action="store_true", help="forget hidden values for good"),
    ),
    YES,
    argument("--force", action="store_true", help="although an action is in progress"),
)
def abandon(session: Session, arguments: argparse.Namespace) -> int:
    """Print the document of a stack and forget the stack; its resources are left alone."""
    stack = session.app.stacks.find(arguments.stack)
    made = session.app.exporter.export(stack.id, with_secrets=arguments.with_secrets)
    if made.hidden and not arguments.without_secrets:
        raise UsageError(
            f"{len(made.hidden)} hidden values of stack {stack.name} would be lost for good.",
            hint="Give --with-secrets to put them into the document, or --without-secrets.",
        )
    if not stack.idle and not arguments.force:
        raise Conflict(
            f"Stack {stack.name} has an action ({stack.action}) in progress.",
            hint="Wait for it or cancel it; --force abandons the stack all the same.",
        )
    question = f"Forget {stack.name}, and leave everything that it made?"
    if not arguments.yes and not session.screen.confirm(question, "Abandoning", "abandoned"):
        return 1
    # The document first: what is forgotten is nowhere else.
    try:
        _write_document(session, arguments.output_file, made.values)
    except BrokenPipeError:
        raise streams.OutputFailed("its reader has gone, so the stack is kept") from None
    session.app.engine.act(AbandonStack(stack.id, made.digest, arguments.force), drive=False)
    session.screen.say(f"Stack {stack.name} is forgotten; its resources were left as they are.")
    _say_leftovers(session, made.values.get("leftovers", ()))
    return 0


def _write_document(session: Session, file: str | None, values: dict[str, Any]) -> None:
    if file is None:
        formats.write_data(session.screen.out, "json", values)
        session.screen.out.flush()
        return
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            json.dump(values, out, indent=2, default=str)
            out.write("\n")
            out.flush()
            os.fsync(out.fileno())
    except FileExistsError:
        raise UsageError(f"{file} exists already.", hint="Name a new file.") from None
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}.") from error


# -- adopt ----------------------------------------------------------------------------------------


@takes(
    argument("name", metavar="NAME", help="name of the new stack"),
    argument(
        "--adopt-file",
        metavar="FILE",
        required=True,
        help="what 'stack abandon' or 'stack export' has written, Heat's or zonda's",
    ),
    bundles.add_arguments,
    argument(
        "--force", action="store_true", help="although other resources have the same physical ids"
    ),
    action_arguments,
    busy_stacks.add_arguments,
    result.add_field_arguments,
)
def adopt(session: Session, arguments: argparse.Namespace) -> int:
    """Make a stack of existing resources; nothing is created."""
    document = _load_stack_document(arguments.adopt_file)
    action = AdoptStack(
        name=arguments.name,
        bundle=_make_bundle(session, arguments, document),
        resources=document.get("resources") or {},
        timeout_mins=arguments.timeout or session.settings.stack_timeout_mins,
        rollback=bool(arguments.rollback),
        tags=parse_tags(arguments.tags) or tuple(map(str, document.get("tags") or ())),
        force=arguments.force,
    )
    running = busy_stacks.submit_action(session, arguments, action, arguments.name, "ADOPT")
    for each in document["leftovers"]:
        session.screen.say(
            f"Not adopted, since no template means it: {each.get('name')} "
            f"({each.get('resource_id') or 'no id known'})."
        )
    return wait_for_end(session, arguments, running, "ADOPT")


def _load_stack_document(file: str) -> dict[str, Any]:
    try:
        found = read_json(read_text(Path(file)))
    except ValueError as error:
        raise UsageError(f"{file} is no JSON: {error}.") from error
    if not isinstance(found, dict) or not all(
        isinstance(found.get(name) or {}, dict) for name in ("resources", "environment", "files")
    ):
        raise UsageError(
            f"{file} is no document of a stack.",
            hint="It is what 'stack abandon' or 'stack export' has written.",
        )
    for name in ("masked", "tags"):
        if not isinstance(found.get(name) or [], list):
            raise UsageError(f"{file} is no document of a stack: '{name}' is no list.")
    left = found.get("leftovers")
    found["leftovers"] = (
        [each for each in left if isinstance(each, dict)] if isinstance(left, list) else []
    )
    return found


def _make_bundle(
    session: Session, arguments: argparse.Namespace, document: dict[str, Any]
) -> Bundle:
    """Make a bundle of the document's or the given template; ``-e`` and ``--parameter`` win."""
    given = bundles.collect_bundle(session, arguments, defaults=False)
    partial.check_complete(arguments.adopt_file, document, given)
    if not given.template and not document.get("template"):
        raise UsageError(
            f"Invalid adopt data: {arguments.adopt_file} has no template.",
            hint="Give one with -t.",
        )
    environment = partial.remove_masks(document.get("environment") or {})
    if arguments.template and arguments.environment:
        environment = {}  # another template may know nothing of the parameters of the old one
    return records.replace(
        given,
        template=given.template or _format_template(document["template"]),
        template_file=given.template_file if given.template else arguments.adopt_file,
        environment=json.dumps(environment) if environment else None,
        files={**(document.get("files") or {}), **given.files},
    )


def _format_template(template: Any) -> str:
    return template if isinstance(template, str) else json.dumps(template, indent=2)

"""The arguments that make up a template, and the bundle they give.

``-t``, ``-e``, ``--parameter`` and ``--parameter-file`` as Heat's client knows them: values are
text, a parameter that is given several times is a list.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from zonda.core.template.bundle import Bundle
from zonda.core.template.fetcher import (
    STDIN,
    FetchLimits,
    Source,
    bundle_from_files,
    is_remote,
    read_text,
)
from zonda.hooks.errors import UsageError

from .session import Session


def add_arguments(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Declare the arguments; ``required``: there must be a template."""
    group = parser.add_argument_group("template")
    group.add_argument("-t", "--template", metavar="FILE", required=required, help="the template")
    group.add_argument(
        "-e",
        "--environment",
        metavar="FILE",
        action="append",
        default=[],
        help="an environment; may be given several times, later ones win",
    )
    group.add_argument(
        "-P",
        "--parameter",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="value of a parameter; wins over environments",
    )
    group.add_argument(
        "--parameter-file",
        metavar="KEY=FILE",
        action="append",
        default=[],
        help="a parameter whose value is what the file holds",
    )
    group.add_argument(
        "--allow-remote",
        action="store_true",
        help="fetch what is named by http or https: the template (-t https://...), "
        "environments, and files that these name",
    )


def collect(session: Session, arguments: argparse.Namespace, *, required: bool = False) -> Bundle:
    """Everything that the arguments name, read. Raises UsageError and ValidationErrors."""
    _check_standard_input(arguments)
    parameters = _parameters(arguments)
    environments = [_source(name) for name in arguments.environment]
    # An update that keeps the template may still bring environments.
    template = None if arguments.template is None else _source(arguments.template)
    if template is None and required:
        raise UsageError("Give a template.")
    remote = session.settings.allow_remote_files
    limits = FetchLimits(
        template_bytes=session.settings.max_template_bytes,
        remote=arguments.allow_remote or remote != "no",
        private=remote == "any",
    )
    bundle = bundle_from_files(template, environments, parameters, limits=limits)
    if template is not None:
        session.template = bundle
        session.screen.remember_source(bundle.template_file, bundle.template)
    for file, text in bundle.environment_files:
        session.screen.remember_source(file, text)
    return bundle


def _source(name: str) -> Source:
    return name if is_remote(name) else Path(name)


def _parameters(arguments: argparse.Namespace) -> dict[str, Any]:
    given = [_pair("--parameter", text) for text in arguments.parameter]
    for text in arguments.parameter_file:
        name, file = _pair("--parameter-file", text)
        given.append((name, read_text(Path(file))))
    values: dict[str, Any] = {}
    for name, value in given:
        if name not in values:
            values[name] = value
        elif isinstance(values[name], list):
            values[name].append(value)
        else:
            values[name] = [values[name], value]
    return values


def _check_standard_input(arguments: argparse.Namespace) -> None:
    files = (text.partition("=")[2] for text in arguments.parameter_file)
    if [arguments.template, *arguments.environment, *files].count(STDIN) > 1:
        raise UsageError("Only one file can be read from standard input (-).")


def _pair(option: str, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"{option} {text} is not of the form KEY=VALUE.")
    return name, value

"""The arguments of a template, and the bundle that they make up.

``-t``, ``-e``, ``--parameter`` and ``--parameter-file`` as Heat's client knows them: values are
text, a parameter that is given several times is a list.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from zonda.core.settings.secret_references import list_own_files
from zonda.core.settings.settings import read_parameters as values_of_variables
from zonda.core.template.files.reader import (
    STDIN,
    FetchLimits,
    Source,
    is_remote,
    load_bundle,
    read_text,
)
from zonda.core.template.source.bundle import VARIABLE, Bundle
from zonda.core.template.source.diagnostics import FILE_MISSING, TYPE_TEMPLATE
from zonda.hooks.errors import TemplateError, UsageError, ValidationErrors

from ..session import Session

#: The environment that a template's folder may have for all that is made from there.
DEFAULT_ENVIRONMENT = "zonda-environment.yaml"


def add_required_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a command that needs a template."""
    add_arguments(parser, required=True)


def add_arguments(parser: argparse.ArgumentParser, *, required: bool = False) -> None:
    """Add the arguments; ``required``: there must be a template."""
    group = parser.add_argument_group(
        "template",
        f"A parameter has its value from, the later the stronger: the template, {VARIABLE}NAME, "
        f"{DEFAULT_ENVIRONMENT} beside the template, -e, -P.",
    )
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


def collect_bundle(
    session: Session,
    arguments: argparse.Namespace,
    *,
    required: bool = False,
    defaults: bool = True,
    all_given: bool = False,
) -> Bundle:
    """Load all files that the arguments name. Raises UsageError and ValidationErrors.

    ``defaults``: with the variables ``ZONDA_PARAM_*`` and the environment beside the template.
    Where files are missing all else that is wrong is told with them; ``all_given``: parameters
    without a value, too.
    """
    _check_standard_input(arguments)
    parameters = _parse_parameters(arguments)
    environments = [_parse_source(name) for name in arguments.environment]
    # An update that keeps the template may still bring environments.
    template = None if arguments.template is None else _parse_source(arguments.template)
    if template is None and required:
        raise UsageError("Give a template.")
    remote = session.settings.allow_remote_files
    limits = FetchLimits(
        template_bytes=session.settings.max_template_bytes,
        roots=tuple(map(Path, session.settings.file_roots)),
        own=(session.settings.home, *list_own_files(session.settings)),
        remote=arguments.allow_remote or remote != "no",
        private=remote == "any",
    )
    variables = {}
    if defaults and template is not None:
        variables = values_of_variables()
        environments = [*_find_default_environment(session, template, environments), *environments]
    missing: list[TemplateError] = []
    bundle = load_bundle(
        template, environments, parameters, variables=variables, limits=limits, missing=missing
    )
    gc.freeze()  # the collector need not look through what stays until the command ends
    if template is not None:
        session.template = bundle
        session.screen.remember_source(bundle.template_file, bundle.template)
    for file, text in bundle.environment_files:
        if not file.startswith(VARIABLE):  # nobody has written that text
            session.screen.remember_source(file, text)
    if missing:
        others = [] if template is None else _list_other_faults(session, bundle, missing, all_given)
        raise ValidationErrors([*missing, *others])
    return bundle


def _list_other_faults(
    session: Session, bundle: Bundle, missing: Sequence[TemplateError], all_given: bool
) -> Iterator[TemplateError]:
    """List the errors of a bundle besides its missing files."""
    try:
        session.app.templates.validate(bundle, all_given=all_given)
    except ValidationErrors as error:
        for fault in error.errors:
            if not any(_follows_from(fault, each) for each in missing):
                yield fault


def _follows_from(fault: TemplateError, missing: TemplateError) -> bool:
    """Whether the error only follows from a missing file."""
    is_of_files = fault.code in (FILE_MISSING, TYPE_TEMPLATE)
    return is_of_files and missing.at[: len(fault.at)] == fault.at


def _find_default_environment(
    session: Session, template: Source, given: Sequence[Source]
) -> list[Source]:
    """Find the environment beside a template, unless it is given anyway."""
    if isinstance(template, str) or str(template) == STDIN:
        return []
    file = template.parent / DEFAULT_ENVIRONMENT  # ``with_name`` refuses a template '.'
    if not file.exists() or any(
        isinstance(each, Path) and each.exists() and each.samefile(file) for each in given
    ):
        return []
    session.screen.say(f"The environment {file} is used, since it is beside the template.")
    return [file]


def _parse_source(name: str) -> Source:
    return name if is_remote(name) else Path(name)


def _parse_parameters(arguments: argparse.Namespace) -> dict[str, Any]:
    given = [_split_pair("--parameter", text) for text in arguments.parameter]
    for text in arguments.parameter_file:
        name, file = _split_pair("--parameter-file", text)
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


def _split_pair(option: str, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"{option} {text} is not of the form KEY=VALUE.")
    return name, value

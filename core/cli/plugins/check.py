"""``zonda plugin check``: run the conformance suite on the types of a package or a file."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from zonda.core.plugins.manager import Plugins
from zonda.hooks.conformance import FAILED, PASSED, Row
from zonda.hooks.conformance import backend as backends
from zonda.hooks.conformance.suite import DEFAULT_LIMIT
from zonda.hooks.conformance.type_suite import TypeSuite
from zonda.hooks.errors import NotFound, PluginError
from zonda.hooks.text.sanitize import join_sentences
from zonda.hooks.text.suggestions import suggestion

from ..arguments import argument, seconds, takes
from ..console import formats
from ..session import Session

COLUMNS = ("Type", "Check", "Subject", "Verdict", "Reason")


@takes(
    argument(
        "what",
        metavar="PACKAGE|FILE",
        help="an installed distribution, or the path of a file or folder (./NAME)",
    ),
    argument(
        "--type", metavar="TYPE", action="append", default=[], help="only this type; repeatable"
    ),
    argument(
        "--backend",
        metavar="MODULE:NAME",
        help="what makes a zonda.hooks.conformance.Backend; default: what the package or file says",
    ),
    argument(
        "--failed", action="store_true", help="show only what failed, and how many there were"
    ),
    argument(
        "--limit",
        metavar="SECONDS",
        type=seconds,
        default=DEFAULT_LIMIT,
        help="how long one try of a rule may take (default: %(default)g; 0: no limit)",
    ),
    formats.add_arguments,
)
def check(session: Session, arguments: argparse.Namespace) -> int:
    """Show one row per rule and type; exit code 1 if any rule is broken."""
    from zonda.hooks.conformance.pytest_runner import run_with_pytest  # --help needs no pytest

    path, app = Path(arguments.what), session.local
    is_file = _is_file(arguments.what)
    if is_file and not path.exists():
        raise NotFound("file", arguments.what)
    plugins = app.load_plugins_from(path) if is_file else app.plugins
    rows = [
        _build_failure_row(failure) for failure in _list_failures(plugins, arguments.what, is_file)
    ]
    types = _choose_types(plugins, arguments, is_file)
    if not types and not rows:
        raise NotFound(
            "plug-in with resource types",
            arguments.what,
            hint=suggestion(arguments.what, _list_packages(plugins))
            or "'zonda plugin list' lists plug-ins.",
        )
    make = _find_backend(plugins, arguments, path if is_file else None)
    make = make and backends.check_factory(make)
    context = app.make_context(plugins=plugins)

    def add_row(row: Row) -> None:
        rows.append(row)
        if session.screen.on_terminal:
            session.screen.say(str(row))

    suites = []
    for name in types:
        cls = plugins.resource_types[name]
        world = make or backends.find_factory_of_class(cls)
        options = {"context": context, "limit": arguments.limit, "on_row": add_row}
        suites.append(TypeSuite(cls, name, world, **options))
    try:
        run_with_pytest(suites)
    except KeyboardInterrupt:
        _show_rows(session, arguments, rows)  # what is done is worth showing
        raise
    return _show_rows(session, arguments, rows)


def _is_file(what: str) -> bool:
    """Whether the argument is a file or folder; a plain name is always a package."""
    return what.endswith((".py", ".yaml", ".yml")) or "/" in what or os.sep in what


def _show_rows(session: Session, arguments: argparse.Namespace, rows: list[Row]) -> int:
    failed = [row for row in rows if row.verdict == FAILED]
    shown = failed if arguments.failed else rows
    cells = [(row.type, row.check, row.subject, row.verdict, row.reason) for row in shown]
    session.show_rows(arguments, COLUMNS, cells)
    passed = sum(row.verdict == PASSED for row in rows)
    rest = len(rows) - passed - len(failed)
    session.screen.say(f"{passed} passed, {len(failed)} failed, {rest} not applicable.")
    return 1 if failed else 0


def _list_packages(plugins: Plugins) -> set[str]:
    origins = plugins.manager.origins() if plugins.manager else []
    return {origin.distribution or origin.plugin for origin in origins}


def _choose_types(plugins: Plugins, arguments: argparse.Namespace, is_file: bool) -> list[str]:
    """Choose the types to check; raises NotFound for an unknown one."""
    found = [
        name
        for (kind, name), origin in plugins.origins.items()
        if kind == "resource type"
        and (not origin.built_in if is_file else arguments.what in origin.names)
    ]
    for name in arguments.type:
        if name not in found:
            raise NotFound("resource type", name, hint=suggestion(name, found))
    return sorted(arguments.type or found)


def _list_failures(plugins: Plugins, what: str, is_file: bool) -> list[PluginError]:
    return [
        each for each in plugins.failures if is_file or what in (each.plugin, each.distribution)
    ]


def _build_failure_row(failure: PluginError) -> Row:
    reason = join_sentences(str(failure), failure.hint)
    return Row(failure.distribution or failure.plugin, "can be loaded", FAILED, "", reason)


def _find_backend(
    plugins: Plugins, arguments: argparse.Namespace, path: Path | None
) -> backends.Factory | None:
    if arguments.backend:
        return backends.load_backend_factory(arguments.backend)
    if path is None:
        names = {
            each.distribution
            for each in plugins.origins.values()
            if arguments.what in (each.plugin, each.distribution)
        }
        found = (backends.find_factory_of_distribution(name) for name in sorted(names) if name)
        return next((each for each in found if each is not None), None)
    for _, plugin in plugins.manager.list_name_plugin() if plugins.manager else ():
        function = getattr(plugin, backends.FUNCTION, None)
        if function is not None:
            return backends.to_backend_factory(function, f"{backends.FUNCTION} of {path}")
    return None

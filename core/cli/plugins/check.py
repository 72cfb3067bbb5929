"""``zonda plugin check``: the conformance kit on what a package or a file brings."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from zonda.core.plugins.manager import Plugins
from zonda.hooks.conformance import FAILED, PASSED, Row, backend_loading
from zonda.hooks.conformance.runner import check as check_type
from zonda.hooks.conformance.timeouts import USUAL
from zonda.hooks.errors import NotFound, PluginError
from zonda.hooks.text.sanitize import join_sentences
from zonda.hooks.text.suggestions import suggestion

from ..console import formats
from ..console.console import Screen
from ..options.argument_types import seconds
from ..session import Session

COLUMNS = ("Type", "Check", "Subject", "Verdict", "Reason")


def check_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``plugin check``."""
    parser.add_argument(
        "what",
        metavar="PACKAGE|FILE",
        help="an installed distribution, or the path of a file or folder (./NAME)",
    )
    parser.add_argument(
        "--type", metavar="TYPE", action="append", default=[], help="only this type; repeatable"
    )
    parser.add_argument(
        "--backend",
        metavar="MODULE:NAME",
        help="what makes a zonda.hooks.conformance.Backend; default: what the package or file says",
    )
    parser.add_argument(
        "--failed", action="store_true", help="show only what failed, and how many there were"
    )
    parser.add_argument(
        "--limit",
        metavar="SECONDS",
        type=seconds,
        default=USUAL,
        help="how long one try of a rule may take (default: %(default)g; 0: no limit)",
    )
    formats.add_arguments(parser)


def check(session: Session, arguments: argparse.Namespace) -> int:
    """One row per rule and type; exit code 1 if any rule is not kept."""
    path, app = Path(arguments.what), session.app
    is_file = _is_file(arguments.what)
    if is_file and not path.exists():
        raise NotFound("file", arguments.what)
    plugins = app.plugins_of(path) if is_file else app.plugins
    rows = [_loading(failure) for failure in _failures(plugins, arguments.what, is_file)]
    types = _chosen(plugins, arguments, is_file)
    if not types and not rows:
        raise NotFound(
            "plug-in with resource types",
            arguments.what,
            hint=suggestion(arguments.what, _packages(plugins))
            or "'zonda plugin list' lists plug-ins.",
        )
    make = _backend(plugins, arguments, path if is_file else None)
    make = make and backend_loading.tried(make)
    context = app.check_context(plugins)
    told = _Told(session.screen, rows)
    try:
        for name in types:
            cls = plugins.resource_types[name]
            world = make or backend_loading.of_class(cls)
            check_type(cls, name, world, context=context, limit=arguments.limit, on_row=told)
    except KeyboardInterrupt:
        _show(session, arguments, rows)  # what is done is worth showing
        raise
    return _show(session, arguments, rows)


class _Told:
    """Keeps every row as it comes, and says it to whoever watches on a terminal."""

    def __init__(self, screen: Screen, rows: list[Row]) -> None:
        self._screen = screen
        self._rows = rows

    def __call__(self, row: Row) -> None:
        """One row that is there now."""
        self._rows.append(row)
        if self._screen.on_terminal:
            self._screen.say(str(row))


def _is_file(what: str) -> bool:
    """Whether a file or folder is meant: a plain name is a package, whatever lies about here."""
    return what.endswith((".py", ".yaml", ".yml")) or "/" in what or os.sep in what


def _show(session: Session, arguments: argparse.Namespace, rows: list[Row]) -> int:
    failed = [row for row in rows if row.verdict == FAILED]
    shown = failed if arguments.failed else rows
    cells = [(row.type, row.check, row.subject, row.verdict, row.reason) for row in shown]
    screen = session.screen
    formats.rows(screen.out, arguments, COLUMNS, cells, screen.width)
    passed = sum(row.verdict == PASSED for row in rows)
    rest = len(rows) - passed - len(failed)
    screen.say(f"{passed} passed, {len(failed)} failed, {rest} not applicable.")
    return 1 if failed else 0


def _packages(plugins: Plugins) -> set[str]:
    origins = plugins.manager.origins() if plugins.manager else []
    return {origin.distribution or origin.plugin for origin in origins}


def _chosen(plugins: Plugins, arguments: argparse.Namespace, is_file: bool) -> list[str]:
    """The types to be checked; raises NotFound for one that is not among them."""
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


def _failures(plugins: Plugins, what: str, is_file: bool) -> list[PluginError]:
    return [
        each for each in plugins.failures if is_file or what in (each.plugin, each.distribution)
    ]


def _loading(failure: PluginError) -> Row:
    reason = join_sentences(str(failure), failure.hint)
    return Row(failure.distribution or failure.plugin, "can be loaded", FAILED, "", reason)


def _backend(
    plugins: Plugins, arguments: argparse.Namespace, path: Path | None
) -> backend_loading.Factory | None:
    if arguments.backend:
        return backend_loading.named_by(arguments.backend)
    if path is None:
        names = {
            each.distribution
            for each in plugins.origins.values()
            if arguments.what in (each.plugin, each.distribution)
        }
        found = (backend_loading.of_distribution(name) for name in sorted(names) if name)
        return next((each for each in found if each is not None), None)
    for _, plugin in plugins.manager.list_name_plugin() if plugins.manager else ():
        function = getattr(plugin, backend_loading.FUNCTION, None)
        if function is not None:
            return backend_loading.checked(function, f"{backend_loading.FUNCTION} of {path}")
    return None

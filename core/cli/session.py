"""The session of one command line run: screen, settings, application.

Made by ``main``. Each part is made when first asked for, since a command that only reads must not
pay for an engine.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from zonda.core.app.app import App, build_app, builtin_kinds
from zonda.core.settings import settings, table
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import StoreError, UsageError
from zonda.hooks.text.sanitize import escape_control_chars

from .console import formats
from .console.console import Screen

if TYPE_CHECKING:
    from zonda.core.app.surface import Application


class Session:
    """One run of the command line."""

    def __init__(self, arguments: argparse.Namespace, screen: Screen) -> None:
        self.screen = screen
        #: The files of this command, for the explanation of a failure.
        self.template: Bundle | None = None
        self._flags = arguments
        self._app: Application | None = None
        self._local: App | None = None
        self._log = _add_log_handler(arguments.debug)

    @cached_property
    def settings(self) -> table.Settings:
        """The settings; raises UsageError that lists every fault."""
        return settings.load_settings(self._parse_flags(), kinds=builtin_kinds)

    def _parse_flags(self) -> dict[str, str]:
        given = {}
        for pair in self._flags.set:
            name, equals, value = pair.partition("=")
            if not equals:
                raise UsageError(f"--set {pair} is not of the form NAME=VALUE.")
            given[name.strip()] = value
        if self._flags.home:
            given["home"] = self._flags.home
        return given

    @property
    def app(self) -> Application:
        """The application: this machine's, or the server's where the settings name one."""
        if self._app is None:
            if self.settings.url:
                from zonda.core.remote.remote_app import RemoteApp

                self._app = RemoteApp(self.offline)
            else:
                self._app = self.local
        return self._app

    @property
    def offline(self) -> App:
        """The application of this machine for its files; also where commands are for a server."""
        if self._local is None:
            self._local = build_app(self.settings)
        return self._local

    @property
    def local(self) -> App:
        """The application of this machine: plug-ins, store, engine, each made on demand.

        Raises UsageError where commands are for a server.
        """
        if self.settings.url:
            raise UsageError(
                "This command works on this machine only, and commands are for the server at "
                f"{self.settings.url}.",
                hint="Unset ZONDA_URL, or give --set url=.",
            )
        if self._local is None:
            self.open_log(default="")
            self._warn_of_exposure(self.offline)
        return self.offline

    def _warn_of_exposure(self, app: App) -> None:
        with suppress(StoreError):  # whoever uses the database says so
            for path in app.exposed_paths:
                mode = path.stat().st_mode & 0o777
                self.screen.say(
                    f"warning: {path} is open to every user (mode {mode:o}): chmod o= {path}"
                )

    def open_log(self, *, default: str) -> None:
        """Open the engine log where the settings say, else at ``default``."""
        place = self.settings.log or default
        if place and place != "off":
            from zonda.core.system.engine_log import open_log

            open_log(place, self.settings.log_format, self.settings.home)

    def show_rows(
        self,
        arguments: argparse.Namespace,
        columns: Sequence[str],
        rows: Iterable[Sequence[Any]],
        spare: Sequence[str] = (),
    ) -> None:
        """Show a list in the chosen format, see ``formats.write_rows``."""
        out, width = self.screen.out, self.screen.width
        formats.write_rows(out, arguments, columns, rows, width, spare=spare)

    def show_fields(self, arguments: argparse.Namespace, thing: Mapping[str, Any]) -> None:
        """Show one thing in the chosen format, see ``formats.write_fields``."""
        formats.write_fields(self.screen.out, arguments, thing, self.screen.width)

    def replace_app(self, app: App) -> None:
        """Replace the application by another one."""
        self.close_app()
        self._local = app

    def finish(self) -> None:
        """Wait for operations that run for other commands."""
        app = self._app or self._local
        if app is not None and "engine" in vars(app):
            app.engine.finish(self.screen.say)

    def close(self) -> None:
        """Stop everything that was started. External operations can be continued later."""
        self.close_app()
        _remove_log_handler(self._log)

    def close_app(self) -> None:
        """Stop the engine, if this process is one."""
        for app in (self._app, self._local):
            if app is not None:
                app.close()
        self._app = self._local = None


class _DebugFormatter(logging.Formatter):
    """Indents the lines behind the first one: none of them looks like another message."""

    def format(self, record: logging.LogRecord) -> str:
        return "\n    ".join(map(escape_control_chars, super().format(record).split("\n")))


def _add_log_handler(debug: bool) -> logging.Handler:
    """Add the handler that shows log messages until the command ends; only with ``--debug``."""
    root = logging.getLogger()
    handler: logging.Handler = logging.NullHandler()
    if debug:
        handler = logging.StreamHandler()
        handler.setFormatter(_DebugFormatter("%(name)s: %(message)s"))
        root.setLevel(logging.INFO)
        logging.getLogger("zonda").setLevel(logging.DEBUG)
    root.addHandler(handler)
    return handler


def _remove_log_handler(handler: logging.Handler) -> None:
    """Remove the handler: the next command in this process has its own."""
    root = logging.getLogger()
    root.removeHandler(handler)
    if isinstance(handler, logging.StreamHandler):
        root.setLevel(logging.WARNING)
        logging.getLogger("zonda").setLevel(logging.NOTSET)

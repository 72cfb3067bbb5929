"""``zonda runner serve``, ``runner stop``, ``engine run``, ``serve``: long-running commands."""

from __future__ import annotations

import argparse
import os
import signal
import threading
from pathlib import Path

from zonda.hooks.errors import NotFound, UsageError
from zonda.hooks.text.suggestions import suggestion

from ..arguments import argument, takes
from ..session import Session

#: Seconds between two looks at whether the engine is still alive.
_CHECK_EVERY = 0.5


@takes(
    argument("files", metavar="FILE", nargs="+", help="a workflow file"),
    argument(
        "--name",
        metavar="NAME",
        default="",
        help="of this runner, for 'NAME:workflow' (default: bundled, or beside that the file's)",
    ),
    argument(
        "--address",
        metavar="HOST:PORT",
        help="where to listen (default: the setting service_address, and a free port beside "
        "another one); port 0 takes a free one",
    ),
)
def runner(session: Session, arguments: argparse.Namespace) -> None:
    """Serve the workflows of files until stopped, and record this service for commands."""

    def ready(name: str, url: str) -> None:
        files = ", ".join(arguments.files)
        session.screen.say(f"Runner {name}: workflows of {files} at {url}; Ctrl-C stops it.")

    files = [Path(file) for file in arguments.files]
    session.app.runners.serve(files, arguments.address, ready, arguments.name)


@takes(argument("names", metavar="NAME", nargs="*", help="which runners (default: all)"))
def stop(session: Session, arguments: argparse.Namespace) -> None:
    """Stop running services; the runs that they have started go on."""
    running = {service.serving.name: service for service in session.app.runners.list_services()}
    for name in arguments.names or running or [str(session.settings.home)]:
        if name not in running:
            raise NotFound("workflow service", name, hint=suggestion(name, running))
        service = running[name]
        os.kill(service.pid, signal.SIGTERM)
        session.screen.say(
            f"Stopped the runner {name} at {service.address} (process {service.pid})."
        )


def engine(session: Session, arguments: argparse.Namespace) -> None:
    """Drive every stack, and carry out the requests of other commands, until stopped."""
    session.open_log(default="stderr")
    ended = threading.Event()
    before = {
        number: signal.signal(number, lambda *_: ended.set())
        for number in (signal.SIGTERM, signal.SIGINT)
    }
    said = False

    def goes_on(holder: int | None) -> bool:
        nonlocal said
        if not said:
            said = True
            who = f"the command of process {holder}" if holder else "a command"
            session.screen.say(f"Waiting for {who}, which is the engine until it ends.")
        return not ended.is_set()

    try:
        if session.app.engine.run(goes_on):
            session.screen.say(f"Engine of {session.app.database}; Ctrl-C stops it.")
        while not ended.wait(_CHECK_EVERY):
            session.app.engine.check()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@takes(
    argument("--no-api", action="store_true", help="no REST API: the same as 'zonda engine run'"),
)
def serve(session: Session, arguments: argparse.Namespace) -> None:
    """Drive every stack, run schedules, deliver events, until stopped."""
    if not arguments.no_api:
        raise UsageError(
            "This zonda has no REST API to serve yet.",
            hint="'zonda serve --no-api' drives stacks, schedules and notifications without one.",
        )
    engine(session, arguments)

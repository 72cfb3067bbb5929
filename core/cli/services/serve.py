"""``zonda runner serve``, ``runner stop``, ``engine run``, ``serve``: long-running commands."""

from __future__ import annotations

import argparse
import gc
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from zonda.core.settings.values import parse_host_and_port
from zonda.hooks.errors import NotFound, UsageError
from zonda.hooks.text.suggestions import suggestion

from ..arguments import argument, takes
from ..session import Session

if TYPE_CHECKING:  # what needs packages that may not be installed
    from zonda.core.api.server.process.serving import Serving

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
    session.local.runners.serve(files, arguments.address, ready, arguments.name)


@takes(argument("names", metavar="NAME", nargs="*", help="which runners (default: all)"))
def stop(session: Session, arguments: argparse.Namespace) -> None:
    """Stop running services; the runs that they have started go on."""
    running = {service.serving.name: service for service in session.local.runners.list_services()}
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
    app, ended = session.local, threading.Event()
    session.open_log(default="stderr")
    with _stop_by_signals(ended.set) as is_stopped:
        if app.engine.run(_make_patience(session, is_stopped)):
            _collect_more_often()
            session.screen.say(f"Engine of {app.database.where}; Ctrl-C stops it.")
        while not ended.wait(_CHECK_EVERY):
            app.engine.check()
        session.close_app()


@takes(
    argument(
        "--address",
        metavar="HOST:PORT",
        help="where to listen (default: the setting serve_address); port 0 takes a free one",
    ),
    argument("--ready", metavar="TEXT", help="a line for standard output as soon as it listens"),
    argument("--no-api", action="store_true", help="no REST API: the same as 'zonda engine run'"),
)
def serve(session: Session, arguments: argparse.Namespace) -> None:
    """Serve Heat's API, drive every stack, run schedules, deliver events, until stopped."""
    if arguments.no_api:
        engine(session, arguments)
        return
    serving = _make_serving(session, arguments.address)
    try:
        with _stop_by_signals(serving.stop) as is_stopped:
            if session.local.engine.run(_make_patience(session, is_stopped)):
                serving.run(lambda: _say_ready(session, serving, arguments.ready))
            session.close_app()
    finally:
        serving.close()


def _collect_more_often() -> None:
    """Leave what there is to no collection, and collect in full ten times as often.

    As Python does it, operations of some hundred stacks leave 5 MB in cycles before it looks.
    """
    gc.collect()  # or what is in cycles now would be kept for ever
    gc.freeze()
    gc.set_threshold(700, 10, 1)


def _say_ready(session: Session, serving: Serving, line: str | None) -> None:
    session.screen.say(f"zonda at {serving.url}; Ctrl-C stops it.")
    session.screen.say(f"Open {serving.url}/ui/ in a browser.")
    if serving.metrics_url:
        session.screen.say(f"Metrics at {serving.metrics_url}.")
    if line:
        session.screen.out.write(f"{line}\n")
        session.screen.out.flush()


def _make_serving(session: Session, address: str | None) -> Serving:
    app = session.local
    session.open_log(default="stderr")
    try:
        from zonda.core.api.server.process.serving import Serving
    except ImportError as error:
        raise UsageError(
            f"What the REST API needs is not installed: {error.name}.",
            hint="pip install 'zonda[serve]', or 'zonda serve --no-api' without the API.",
        ) from error
    try:
        place = parse_host_and_port(address or session.settings.serve_address)
    except ValueError as error:
        raise UsageError(f"The address {address} {error}.") from error
    return Serving(app, place)


@contextmanager
def _stop_by_signals(stop: Callable[[], None]) -> Iterator[Callable[[], bool]]:
    """Call ``stop`` at SIGTERM and Ctrl-C; gives what tells whether that has happened.

    A second signal ends the process at once.
    """
    stopped = threading.Event()

    def end(number: int, _: object) -> None:
        if stopped.is_set():  # nothing is lost: what is not stored yet was not acknowledged
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        stopped.set()
        stop()

    numbers = (signal.SIGTERM, signal.SIGINT)
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield stopped.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _make_patience(
    session: Session, is_stopped: Callable[[], bool]
) -> Callable[[int | None], bool]:
    """Make what says once that a command is waited for; asked until that has ended."""
    holders: list[int | None] = []

    def goes_on(holder: int | None) -> bool:
        if not holders:
            who = f"the command of process {holder}" if holder else "a command"
            session.screen.say(f"Waiting for {who}, which is the engine until it ends.")
        holders.append(holder)
        return not is_stopped()

    return goes_on

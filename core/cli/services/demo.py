"""``zonda demo``: the example ``team-database`` from nothing to things that exist, in one command.

Everything is made in a home of its own, so that nothing else is touched and removing the folder
removes all of it.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

import zonda
from zonda.core.app.app import App, build_app
from zonda.core.engine.actions import CreateStack, UpdateStack
from zonda.core.system.folders import make_folder
from zonda.core.template.files.reader import bundle_from_files
from zonda.hooks.errors import NotFound, StoreError, UsageError

from ..progress import outputs
from ..progress.follow import follow
from ..session import Session

STACK = "team"
TEMPLATE = "team-database.yaml"
WORKFLOWS = "workflows.yaml"
_PATIENCE = 10.0
_LOOK_AGAIN = 0.05


def demo_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``demo``."""
    parser.add_argument(
        "--folder",
        metavar="FOLDER",
        help="where to make everything (default: the folder demo in zonda's home)",
    )


def demo(session: Session, arguments: argparse.Namespace) -> int:
    """Create the example's stack, or bring it up to date, and show what was made."""
    folder = Path(arguments.folder or session.settings.home / "demo").absolute()
    say = session.screen.say
    say(f"Everything is made in {folder}")
    _become(session, folder)
    service = _service(session.app, folder)
    say(f"The runner service is at {service}\n")
    code = _run(session, folder)
    if code == 0:
        _show(session, folder)
    _what_next(session, folder)
    return code


def example() -> Path:
    """The example's folder, in a clone and in an installed package alike."""
    found = Path(zonda.__file__).parent / "examples" / "team-database"
    if not (found / TEMPLATE).is_file():
        raise UsageError(f"The example is not in this installation ({found}).")
    return found


def _become(session: Session, folder: Path) -> None:
    """Go on with a home of its own and default settings."""
    session.settings = dataclasses.replace(
        session.settings,
        home=folder,
        database_url=f"sqlite:///{folder / 'zonda.db'}",
        key="",
        key_file="",
        plugin_dirs=(),
        default_runner="bundled",
    )
    session.use(build_app(session.settings))


def _service(app: App, folder: Path) -> str:
    """The address of the service, started in the background if it does not run."""
    running = app.services()
    if running:
        return running[0].address
    make_folder(folder)
    words = ["runner", "serve", str(example() / WORKFLOWS), "--address", "127.0.0.1:0"]
    command = [sys.executable, "-P", "-m", "zonda", *words, "--home", str(folder)]
    log = folder / "service.log"
    with _opened(log) as stream:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
            cwd=folder,
        )
    for _ in range(int(_PATIENCE / _LOOK_AGAIN)):
        running = app.services()
        if running:
            return running[0].address
        if process.poll() is not None:
            break
        app.clock.pause(_LOOK_AGAIN)
    raise UsageError(f"The runner service did not start:\n{log.read_text().strip()}")


def _opened(log: Path) -> BinaryIO:
    try:
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError(
            f"The file {log} cannot be written: {error.strerror}.",
            hint="Choose another folder with --folder, --home or ZONDA_HOME.",
        ) from error
    return open(handle, "wb")


def _run(session: Session, folder: Path) -> int:
    parameters = {"directory": str(folder / "data")}
    bundle = bundle_from_files(example() / TEMPLATE, parameters=parameters)
    session.template = bundle
    try:
        session.app.stack(STACK)
    except NotFound:
        running = session.app.act(CreateStack(STACK, bundle))
        return follow(session, running, ("CREATE",))
    session.screen.say(f"The stack {STACK} is there already: it is brought up to date.")
    return follow(session, session.app.act(UpdateStack(STACK, bundle)), ("UPDATE",))


def _show(session: Session, folder: Path) -> None:
    screen = session.screen
    shown = argparse.Namespace(format="table", column=["output_key", "output_value"])
    found = session.app.details(session.app.stack(STACK)).outputs
    outputs.show_all(screen, shown, found)
    screen.out.write("\nWhat is really there:\n")
    for path in sorted(path for path in (folder / "data").rglob("*") if path.is_file()):
        screen.out.write(f"  {path.stat().st_size:>8} bytes  {path}\n")
    screen.out.flush()


def _what_next(session: Session, folder: Path) -> None:
    program = _program()
    update = f"stack update {STACK} --existing --parameter"
    steps = (
        (f"stack resource list {STACK}", ""),
        (f"stack event list {STACK}", ""),
        (f"stack output show {STACK} --all", ""),
        (f"{update} members=ada,grace,barbara", "changes the database in place"),
        (f"{update} schema_level=2", "and its schema"),
        (f"{update} database_name=people", "replaces it: the new one is made first"),
        (f"stack suspend {STACK}", "locks it"),
        (f"stack resume {STACK}", "and unlocks it"),
        (f"stack delete -y {STACK}", "removes what the stack has made"),
        ("runner stop", "ends the service in the background"),
    )
    width = max(len(words) for words, _ in steps)
    say = session.screen.say
    say(f"\nWhat to try next:\n  export ZONDA_HOME={shlex.quote(str(folder))}")
    for words, comment in steps:
        shown = f"{words:{width}}  # {comment}" if comment else words
        say(f"  {program} {shown}")
    say(f"'rm -r {shlex.quote(str(folder))}' forgets everything.")
    say(f"The template is {example() / TEMPLATE}.")


def _program() -> str:
    """How the user can call us again: by name where the PATH finds us, else as just now."""
    called = sys.argv[0]
    if Path(called).name != "zonda":
        return "zonda"
    found = shutil.which("zonda")
    return "zonda" if found and Path(found).samefile(called) else shlex.quote(called)

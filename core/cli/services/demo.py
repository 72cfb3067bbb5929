"""``zonda demo``: create the example stack ``team-database`` in one command.

Everything is made in a home of its own, so that nothing else is touched and removing the folder
removes all of it.
"""

from __future__ import annotations

import argparse
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
from zonda.core.template.files.reader import load_bundle
from zonda.hooks import records
from zonda.hooks.errors import NotFound, StoreError, UsageError

from ..arguments import argument, takes
from ..progress import outputs
from ..progress.follow import follow
from ..session import Session

STACK = "team"
TEMPLATE = "team-database.yaml"
WORKFLOWS = "workflows.yaml"
_PATIENCE = 10.0
_LOOK_AGAIN = 0.05


@takes(
    argument(
        "--folder",
        metavar="FOLDER",
        help="where to make everything (default: the folder demo in zonda's home)",
    ),
)
def demo(session: Session, arguments: argparse.Namespace) -> int:
    """Create or update the example's stack, and show its outputs."""
    home = session.local.settings.home
    folder = Path(arguments.folder or home / "demo").absolute()
    say = session.screen.say
    say(f"Everything is made in {folder}")
    _use_demo_home(session, folder)
    service = _start_service(session.local, folder)
    say(f"The runner service is at {service}\n")
    code = _run_example(session, folder)
    if code == 0:
        _show_result(session, folder)
    _say_next_steps(session, folder)
    return code


def find_example() -> Path:
    """Find the example's folder, in a clone and in an installed package alike."""
    found = Path(zonda.__file__).parent / "examples" / "team-database"
    if not (found / TEMPLATE).is_file():
        raise UsageError(f"The example is not in this installation ({found}).")
    return found


def _use_demo_home(session: Session, folder: Path) -> None:
    """Use a separate home with default settings."""
    session.settings = records.replace(
        session.settings,
        home=folder,
        database_url=f"sqlite:///{folder / 'zonda.db'}",
        key="",
        key_file="",
        plugin_dirs=(),
        default_runner="bundled",
    )
    session.replace_app(build_app(session.settings))


def _start_service(app: App, folder: Path) -> str:
    """Start the service in the background unless it runs; return its address."""
    running = app.runners.list_services()
    if running:
        return running[0].address
    make_folder(folder)
    words = ["runner", "serve", str(find_example() / WORKFLOWS), "--address", "127.0.0.1:0"]
    command = [sys.executable, "-P", "-m", "zonda", *words, "--home", str(folder)]
    log = folder / "service.log"
    with _open_log(log) as stream:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
            cwd=folder,
        )
    for _ in range(int(_PATIENCE / _LOOK_AGAIN)):
        running = app.runners.list_services()
        if running:
            return running[0].address
        if process.poll() is not None:
            break
        app.clock.pause(_LOOK_AGAIN)
    raise UsageError(f"The runner service did not start:\n{log.read_text().strip()}")


def _open_log(log: Path) -> BinaryIO:
    try:
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError(
            f"The file {log} cannot be written: {error.strerror}.",
            hint="Choose another folder with --folder, --home or ZONDA_HOME.",
        ) from error
    return open(handle, "wb")


def _run_example(session: Session, folder: Path) -> int:
    parameters = {"directory": str(folder / "data")}
    bundle = load_bundle(find_example() / TEMPLATE, parameters=parameters)
    session.template = bundle
    try:
        session.local.stacks.find(STACK)
    except NotFound:
        running = session.local.engine.act(CreateStack(STACK, bundle))
        return follow(session, running, ("CREATE",))
    session.screen.say(f"The stack {STACK} is there already: it is brought up to date.")
    return follow(session, session.local.engine.act(UpdateStack(STACK, bundle)), ("UPDATE",))


def _show_result(session: Session, folder: Path) -> None:
    screen = session.screen
    shown = argparse.Namespace(format="table", column=["output_key", "output_value"])
    found = session.local.stacks.make_values().outputs(session.local.stacks.find(STACK).id)
    outputs.show_all(session, shown, found)
    screen.out.write("\nWhat is really there:\n")
    for path in sorted(path for path in (folder / "data").rglob("*") if path.is_file()):
        screen.out.write(f"  {path.stat().st_size:>8} bytes  {path}\n")
    screen.out.flush()


def _say_next_steps(session: Session, folder: Path) -> None:
    program = _find_program()
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
    say(f"The template is {find_example() / TEMPLATE}.")


def _find_program() -> str:
    """Find the command for the user: its name where PATH finds it, else its path."""
    called = sys.argv[0]
    if Path(called).name != "zonda":
        return "zonda"
    found = shutil.which("zonda")
    return "zonda" if found and Path(found).samefile(called) else shlex.quote(called)

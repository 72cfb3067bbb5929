"""Count hops between modules and folders: a create up to the handler, a poll that ends.

Counted are calls of functions of zonda, not time, and no constructors of records. A hop is a call
in another module (or folder) than the call before it. The resource acts outside, so that nothing is
drafted. ``create`` is the command up to ``Engine.submit``, then the engine up to ``handle_create``;
``poll`` is from the clock to the commit and on to ``handle_create`` of the resource that has
waited. The engine is the inline one, which makes the same steps in one thread: all numbers are the
same in each run.
"""

import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import zonda
from zonda.builtin_resources.basic.test_resource import TestResource
from zonda.core.cli.main import main
from zonda.core.engine.actions import CreateStack
from zonda.core.engine.runtime.engine import Engine
from zonda.core.template.source.bundle import Bundle
from zonda.core.testing.stack import InlineStack
from zonda.hooks import records
from zonda.hooks.testing import FakeClock

HEAD = "heat_template_version: 2018-08-31\nparameters: {p: {type: string, default: one}}\n"
ONE = (
    HEAD + "resources:\n  r0: {type: OS::Heat::TestResource, properties: {value: {get_param: p}}}\n"
)
#: The second begins when the poll of the first has ended.
TWO = HEAD + (
    "resources:\n  r0: {type: OS::Heat::TestResource, properties: {value: one, wait_secs: 0.1}}\n"
    "  r1: {type: OS::Heat::TestResource, depends_on: r0}\n"
)
#: Data that all of the engine works on, as the study counted: no station of the way.
DATA = "core/engine/model"
_PACKAGE = f"{Path(zonda.__file__).parent}{os.sep}"
_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<module>"})


class Trace:
    """The modules of zonda's functions, in the order of calls of one thread."""

    def __init__(self, last: Callable[[CodeType, FrameType], bool]) -> None:
        """``last``: whether a call is the one at which the trace ends."""
        self.modules: list[str] = []
        self._last = last
        self._has_ended = False

    def start(self) -> None:
        """Begin (anew), unless it has ended."""
        if not self._has_ended:
            self.modules.clear()
            sys.setprofile(self._note)

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(_PACKAGE):
            return
        if code.co_name in _COMPREHENSIONS or code.co_filename == records.__file__:
            return
        self.modules.append(code.co_filename.removeprefix(_PACKAGE).removesuffix(".py"))
        if self._last(code, frame):
            self._has_ended = True
            sys.setprofile(None)


class StartingClock(FakeClock):
    """A clock that starts a trace whenever it is moved."""

    trace: Trace | None = None

    def advance(self, seconds: float) -> None:
        """Let ``seconds`` pass."""
        super().advance(seconds)
        if seconds > 0 and self.trace is not None:
            self.trace.start()


def trace_command(home: str) -> list[str]:
    """From ``zonda stack create`` to the engine's inbox."""
    template = Path(home, "one.yaml")
    template.write_text(ONE)
    trace = Trace(lambda code, frame: code is Engine.submit.__code__)
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        # The first one imports modules, and makes the database.
        for name, begin in (("warm", lambda: None), ("bench", trace.start)):
            begin()
            code = main(["stack", "create", name, "-t", str(template), "--home", home])
            assert code == 0, code
    return trace.modules


def is_creation(name: str) -> Callable[[CodeType, FrameType], bool]:
    """Whether a call is ``handle_create`` of resource ``name``."""
    handler = TestResource.handle_create.__code__
    return lambda code, frame: code is handler and frame.f_locals["self"].name == name


@contextmanager
def inline_stack(home: str, template: str) -> Iterator[InlineStack]:
    """A stack in memory, all of whose modules were imported by another one."""
    stack = InlineStack(Path(home))
    stack.clock = StartingClock()
    stack.restart()
    try:
        stack.engine.run(CreateStack("warm", Bundle(template)))
        yield stack
    finally:
        stack.close()


def trace_create(home: str) -> list[str]:
    """From an action to ``handle_create`` of its only resource."""
    trace = Trace(is_creation("r0"))
    with inline_stack(home, ONE) as stack:
        trace.start()
        stack.engine.run(CreateStack("bench", Bundle(ONE)))
    return trace.modules


def trace_poll(home: str) -> list[str]:
    """From a due poll that ends to ``handle_create`` of the next resource."""
    trace = Trace(is_creation("r1"))
    with inline_stack(home, TWO) as stack:
        stack.clock.trace = trace
        stack.engine.run(CreateStack("bench", Bundle(TWO)))
    return trace.modules


def count_hops(places: Sequence[str]) -> int:
    """The number of places that are others than the one before."""
    return sum(one != other for one, other in pairwise(places))


def summarize(modules: Sequence[str]) -> dict[str, int]:
    """Calls, places and hops."""
    folders = [os.path.dirname(module) for module in modules]
    return {
        "calls": len(modules),
        "modules": len(set(modules)),
        "module_hops": count_hops(modules),
        "folders": len(set(folders)),
        "folder_hops": count_hops(folders),
    }


def count_entries(modules: Sequence[str]) -> dict[str, int]:
    """How often each folder is entered, most often first."""
    folders = [os.path.dirname(module) for module in modules]
    entered = Counter(folders[:1] + [other for one, other in pairwise(folders) if one != other])
    return dict(sorted(entered.items(), key=lambda each: (-each[1], each[0])))


def describe(modules: Sequence[str]) -> dict[str, Any]:
    """All of zonda, the engine alone, the engine without its data; the folders."""
    engine = [module for module in modules if module.startswith("core/engine/")]
    stations = [module for module in engine if os.path.dirname(module) != DATA]
    return {
        **summarize(modules),
        "engine": summarize(engine),
        "engine_without_data": summarize(stations),
        "entered": count_entries(modules),
    }


if __name__ == "__main__":
    TestResource.has_side_effects = True
    with tempfile.TemporaryDirectory() as folder:
        create = trace_command(folder) + trace_create(folder)
        poll = trace_poll(folder)
    print(json.dumps({"bench": "hops", "create": describe(create), "poll": describe(poll)}))

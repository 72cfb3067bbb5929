"""Tasks made of generators: what plug-ins use to do several things step by step."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any

#: Unit tests of plug-ins switch it off.
ENABLE_SLEEP = True


def task_description(task: Any) -> str:
    """A text that tells a task from others."""
    owner = getattr(task, "__self__", None)
    name = getattr(task, "__name__", None)
    if owner is not None and name:
        return f"{name} from {owner}"
    return name or repr(task)


class Timeout(BaseException):
    """Thrown into a task that takes too long."""

    def __init__(self, task_runner: Any, timeout: float) -> None:
        super().__init__(f"{task_runner} Timed out")
        self._ends = time.monotonic() + timeout

    def expired(self) -> bool:
        return time.monotonic() > self._ends

    def trigger(self, generator: Generator[Any, Any, Any]) -> bool:
        """Whether the task has ended by it."""
        try:
            generator.throw(self)
        except StopIteration:
            return True
        return False

    def earlier_than(self, other: Any) -> bool:
        return other is None or self._ends < other._ends


class TimedCancel(Timeout):
    """Ends a task once its grace is over."""

    def trigger(self, generator: Generator[Any, Any, Any]) -> bool:
        """Whether the task has ended by it."""
        generator.close()
        return True


class ExceptionGroup(Exception):
    """What several tasks raised."""

    def __init__(self, exceptions: Any = None) -> None:
        self.exceptions = list(exceptions or ())
        super().__init__(", ".join(str(each) for each in self.exceptions))


class TaskRunner:
    """Runs one task; a task is a function, or one that yields where it can be interrupted."""

    def __init__(self, task: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        if not callable(task):
            raise TypeError("A task must be callable")
        self._task = task
        self._args = args
        self._kwargs = kwargs
        self._runner: Generator[Any, Any, Any] | None = None
        self._done = False
        self._timeout: Timeout | None = None
        self._poll_period = 1
        self.name = task_description(task)

    def __str__(self) -> str:
        return f"Task {self.name}"

    def _sleep(self, wait_time: float | None) -> None:
        if ENABLE_SLEEP and wait_time is not None:
            time.sleep(wait_time)

    def __call__(
        self,
        wait_time: float | None = 1,
        timeout: float | None = None,
        progress_callback: Callable[[], Any] | None = None,
    ) -> None:
        """Run the task to its end."""
        self.start(timeout=timeout)
        self.run_to_completion(wait_time=wait_time, progress_callback=progress_callback)

    def start(self, timeout: float | None = None) -> None:
        """Run the task up to the first place where it waits."""
        if self._runner is not None:
            raise AssertionError("Task already started")
        if timeout is not None:
            self._timeout = Timeout(self, timeout)
        result = self._task(*self._args, **self._kwargs)
        if inspect.isgenerator(result):
            self._runner = result
            self.step()
        else:
            self._done = True

    def step(self) -> bool:
        """Run the task up to the next place where it waits; whether it is done."""
        if self._done:
            return True
        if self._runner is None:
            raise AssertionError("Task not started")
        if self._timeout is not None and self._timeout.expired():
            self._done = True
            self._done = self._timeout.trigger(self._runner)
            return self._done
        try:
            period = next(self._runner)
            self._poll_period = 1 if period is None else max(period, 1)
        except StopIteration:
            self._done = True
        except BaseException:
            self._done = True
            raise
        return self._done

    def run_to_completion(
        self,
        wait_time: float | None = 1,
        progress_callback: Callable[[], Any] | None = None,
    ) -> None:
        """Run what is left of the task."""
        for _ in self.as_task(progress_callback=progress_callback):
            self._sleep(None if wait_time is None else wait_time * self._poll_period)

    def as_task(
        self,
        timeout: float | None = None,
        progress_callback: Callable[[], Any] | None = None,
    ) -> Iterator[Any]:
        """The task as a part of another one."""
        if self._runner is None and not self._done:
            self.start(timeout=timeout)
        while not self._done:
            yield self._poll_period
            if progress_callback is not None:
                progress_callback()
            self.step()

    def cancel(self, grace_period: float | None = None) -> None:
        """End the task now, or after some seconds."""
        if self._done or self._runner is None:
            self._done = True
            return
        if grace_period is None:
            self._runner.close()
            self._done = True
        else:
            limit = TimedCancel(self, grace_period)
            if limit.earlier_than(self._timeout):
                self._timeout = limit

    def started(self) -> bool:
        """Whether it was started."""
        return self._runner is not None or self._done

    def done(self) -> bool:
        """Whether it has ended."""
        return self._done

    def __bool__(self) -> bool:
        return not self._done


def wrappertask(task: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
    """A task that yields other tasks, as one task: the ``yield from`` of Python 2."""

    @functools.wraps(task)
    def whole(*args: Any, **kwargs: Any) -> Iterator[Any]:
        made = task(*args, **kwargs)
        if not inspect.isgenerator(made):
            return
        parent: Any = made
        try:
            inner: Any = next(parent)
            while True:
                waits = inner is None or isinstance(inner, int | float)
                inner = parent.send((yield inner) if waits else (yield from inner))
        except StopIteration:
            return

    return whole


class PollingTaskGroup:
    """Several tasks side by side."""

    def __init__(self, tasks: Any, name: str | None = None) -> None:
        self._tasks = list(tasks)
        self.name = name or ", ".join(task_description(each) for each in self._tasks)

    @classmethod
    def from_task_with_args(cls, task: Any, args_list: Any, kwargs_list: Any) -> PollingTaskGroup:
        """The same task with several arguments."""
        pairs = zip(args_list, kwargs_list, strict=True)
        return cls(functools.partial(task, *args, **kwargs) for args, kwargs in pairs)

    def __call__(self) -> Iterator[Any]:
        """The group as one task."""
        runners = [TaskRunner(task) for task in self._tasks]
        try:
            for runner in runners:
                runner.start()
            while any(runners):
                yield None
                for runner in filter(None, runners):
                    runner.step()
        except BaseException:
            for runner in runners:
                runner.cancel()
            raise


class DependencyTaskGroup:
    """A task for each node of a graph, each after those that it requires."""

    def __init__(
        self,
        dependencies: Any,
        task: Callable[[Any], Any] = lambda node: node(),
        reverse: bool = False,
        name: str | None = None,
        error_wait_time: float | None = None,
        aggregate_exceptions: bool = False,
    ) -> None:
        nodes = list(dependencies)
        self._runners = {
            node: TaskRunner(functools.partial(task, node))
            for node in (reversed(nodes) if reverse else nodes)
        }
        self.name = name or "tasks"
        self.aggregate_exceptions = aggregate_exceptions

    def __call__(self) -> Iterator[Any]:
        """The group as one task: node after node, in the order of the graph."""
        raised: list[Exception] = []
        for runner in self._runners.values():
            try:
                runner.start()
                while not runner.step():
                    yield None
            except Exception as error:
                if not self.aggregate_exceptions:
                    raise
                raised.append(error)
        if raised:
            raise ExceptionGroup(raised)

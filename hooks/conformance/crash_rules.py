"""Rules about the end of the process: between all calls, and inside of handlers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from .instrumented import Crash, InstrumentedLifecycle
from .report import NotApplicable, Violated, describe_error
from .trial import Trial

Run = Callable[[InstrumentedLifecycle], Any]


def forgets_nothing(trial: Trial) -> None:
    """A life whose every call is on a new instance goes like any other."""
    life = trial.life()
    life.restarts = True
    done: list[str] = []
    for name, run in _whole_life(trial):
        try:
            run(life)
        except Exception as error:  # the border: a plug-in's calls
            raise Violated(_why(trial, name, error)) from error
        done.append(name)


def _whole_life(trial: Trial) -> list[tuple[str, Run]]:
    found: list[tuple[str, Run]] = [("CREATE", lambda life: life.create())]
    updatable = [key for key, each in trial.cls.properties_schema.items() if each.update_allowed]
    for changed in (each for name in updatable for each in _first(trial, name)):
        found.append(("UPDATE", partial(_update, changed)))
    if hasattr(trial.cls, "handle_suspend"):
        found += [("SUSPEND", lambda life: life.suspend()), ("RESUME", lambda life: life.resume())]
    if hasattr(trial.cls, "handle_check"):
        found.append(("CHECK", lambda life: life.check()))
    return [*found, ("DELETE", lambda life: life.delete())]


def _update(changed: Mapping[str, Any], life: InstrumentedLifecycle) -> None:
    life.update(changed)


def _first(trial: Trial, name: str) -> list[dict[str, Any]]:
    try:
        return [trial.other(name)]
    except NotApplicable:
        return []


def _why(trial: Trial, action: str, error: Exception) -> str:
    """What fails with new instances, and what had been put on ``self`` where it did not."""
    notes = " ".join(getattr(error, "__notes__", ()))
    reason = describe_error(trial.cls, error)
    text = f"{action} fails when the process was restarted in between: {reason}"
    kept = trial.life()
    try:
        for _, run in _whole_life(trial):
            run(kept)
    except Exception:  # the border: it fails without a restart as well, which other rules tell
        return f"{text} {notes}".rstrip()
    lost = ", ".join(sorted(kept.kept))
    return f"{text} {notes}".rstrip() + (
        f" (put on self or the class by handlers: {lost})" if lost else ""
    )


def survives_create(trial: Trial) -> None:
    """An interrupted creation is taken up, or cleaned up, as ``start_policy`` says."""
    probe = trial.created()
    writes = probe.writes
    alone = len(trial.backend.leftovers() or ())
    probe.delete()
    for point in (*range(1, writes + 1), InstrumentedLifecycle.END):
        life = trial.life()
        _interrupted(life, point, life.create)
        if trial.cls.start_policy != "fail":
            _again(trial, life, point, life.create)
            _expect_one(trial, alone, point)
        _deleted(trial, life, point)


def _expect_one(trial: Trial, alone: int, point: int) -> None:
    if len(trial.backend.leftovers() or ()) > alone:
        raise Violated(f"made twice: interrupted {_at(point)} and taken up again")


def survives_delete(trial: Trial) -> None:
    """An interrupted deletion is done again."""
    probe = trial.created()
    probe.delete()
    for point in (*range(1, probe.writes + 1), InstrumentedLifecycle.END):
        life = trial.created()
        _interrupted(life, point, life.delete)
        _deleted(trial, life, point)


def survives_update(trial: Trial) -> None:
    """After an interrupted update the same update, or a deletion, works."""
    changed, writes = _in_place(trial)
    for point in (*range(1, writes + 1), InstrumentedLifecycle.END):
        life = trial.created()
        _interrupted(life, point, partial(life.update, changed))
        if trial.cls.start_policy == "idempotent":
            life.status = "COMPLETE"
            _again(trial, life, point, partial(life.update, changed))
        _deleted(trial, life, point)


def _in_place(trial: Trial) -> tuple[dict[str, Any], int]:
    """The first change that needs no replacement, and how much its update stores."""
    for name, schema in trial.cls.properties_schema.items():
        for changed in _first(trial, name) if schema.update_allowed else ():
            probe = trial.created()
            outcome = probe.update(changed)
            writes = probe.writes
            probe.delete()
            if outcome != "replaced":
                return changed, writes
    raise NotApplicable("no property can be updated")


def _interrupted(life: InstrumentedLifecycle, point: int, run: Callable[[], Any]) -> None:
    life.crash_at = point
    try:
        run()
    except Crash:
        pass
    finally:
        life.crash_at = None
    life._alive = None


def _again(trial: Trial, life: InstrumentedLifecycle, point: int, run: Callable[[], Any]) -> None:
    try:
        life.again(run)
    except Exception as error:  # the border: a plug-in's calls
        policy = trial.cls.start_policy
        text = f"start_policy is {policy}, but the second call after a crash {_at(point)} fails"
        raise Violated(f"{text}: {describe_error(trial.cls, error)}") from error


def _deleted(trial: Trial, life: InstrumentedLifecycle, point: int) -> None:
    try:
        life.delete()
    except Exception as error:  # the border: a plug-in's calls
        raise Violated(
            f"delete after a crash {_at(point)} fails: {describe_error(trial.cls, error)}"
        ) from error
    trial.expect_nothing_left(f"a crash {_at(point)} and delete")


def _at(point: int) -> str:
    return (
        "after the handler"
        if point == InstrumentedLifecycle.END
        else f"after write {point} of the handler"
    )


RULES: Final = {
    "restart between all calls": forgets_nothing,
    "crash in create": survives_create,
    "crash in update": survives_update,
    "crash in delete": survives_delete,
}

"""Rules about the end of the process: between all calls, and inside of handlers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from .instrumented import Crash, InstrumentedLifecycle
from .suite import NotApplicable, Violated
from .trial import Trial, describe_error

Run = Callable[[InstrumentedLifecycle], Any]


def check_restart_between_calls(trial: Trial) -> None:
    """Raise Violated unless a life works where each call is made on a new instance."""
    life = trial.life()
    life.restarts = True
    for name, run in _list_operations(trial):
        try:
            run(life)
        except Exception as error:  # the border: a plug-in's calls
            raise Violated(_explain_failure(trial, name, error)) from error


def _list_operations(trial: Trial) -> list[tuple[str, Run]]:
    found: list[tuple[str, Run]] = [("CREATE", lambda life: life.create())]
    updatable = [key for key, each in trial.cls.properties_schema.items() if each.update_allowed]
    for changed in (each for name in updatable for each in _list_first_change(trial, name)):
        found.append(("UPDATE", partial(_update, changed)))
    if hasattr(trial.cls, "handle_suspend"):
        found += [("SUSPEND", lambda life: life.suspend()), ("RESUME", lambda life: life.resume())]
    if hasattr(trial.cls, "handle_check"):
        found.append(("CHECK", lambda life: life.check()))
    return [*found, ("DELETE", lambda life: life.delete())]


def _update(changed: Mapping[str, Any], life: InstrumentedLifecycle) -> None:
    life.update(changed)


def _list_first_change(trial: Trial, name: str) -> list[dict[str, Any]]:
    try:
        return [trial.pick_change(name)]
    except NotApplicable:
        return []


def _explain_failure(trial: Trial, action: str, error: Exception) -> str:
    """The text of a failure with new instances, with the attributes that were lost."""
    notes = " ".join(getattr(error, "__notes__", ()))
    reason = describe_error(trial.cls, error)
    text = f"{action} fails when the process was restarted in between: {reason}"
    kept = trial.life()
    try:
        for _, run in _list_operations(trial):
            run(kept)
    except Exception:  # the border: it fails without a restart as well, which other rules tell
        return f"{text} {notes}".rstrip()
    lost = ", ".join(sorted(kept.kept))
    return f"{text} {notes}".rstrip() + (
        f" (put on self or the class by handlers: {lost})" if lost else ""
    )


def check_crash_in_create(trial: Trial) -> None:
    """Raise Violated unless an interrupted creation is repeated or deleted (``start_policy``)."""
    probe = trial.make_created()
    writes = probe.writes
    alone = len(trial.backend.leftovers() or ())
    probe.delete()
    for point in (*range(1, writes + 1), InstrumentedLifecycle.END):
        life = trial.life()
        _run_until_crash(life, point, life.create)
        if trial.cls.start_policy != "fail":
            _repeat_operation(trial, life, point, life.create)
            _expect_one(trial, alone, point)
        _delete_after_crash(trial, life, point)


def _expect_one(trial: Trial, alone: int, point: int) -> None:
    if len(trial.backend.leftovers() or ()) > alone:
        raise Violated(f"made twice: interrupted {_format_crash_point(point)} and taken up again")


def check_crash_in_delete(trial: Trial) -> None:
    """Raise Violated unless an interrupted deletion can be repeated."""
    probe = trial.make_created()
    probe.delete()
    for point in (*range(1, probe.writes + 1), InstrumentedLifecycle.END):
        life = trial.make_created()
        _run_until_crash(life, point, life.delete)
        _delete_after_crash(trial, life, point)


def check_crash_in_update(trial: Trial) -> None:
    """Raise Violated unless the update can be repeated, or the resource deleted, after a crash."""
    changed, writes = _find_update_in_place(trial)
    for point in (*range(1, writes + 1), InstrumentedLifecycle.END):
        life = trial.make_created()
        _run_until_crash(life, point, partial(life.update, changed))
        if trial.cls.start_policy == "idempotent":
            life.status = "COMPLETE"
            _repeat_operation(trial, life, point, partial(life.update, changed))
        _delete_after_crash(trial, life, point)


def _find_update_in_place(trial: Trial) -> tuple[dict[str, Any], int]:
    """The first change that needs no replacement, and how much its update stores."""
    for name, schema in trial.cls.properties_schema.items():
        for changed in _list_first_change(trial, name) if schema.update_allowed else ():
            probe = trial.make_created()
            outcome = probe.update(changed)
            writes = probe.writes
            probe.delete()
            if outcome != "replaced":
                return changed, writes
    raise NotApplicable("no property can be updated")


def _run_until_crash(life: InstrumentedLifecycle, point: int, run: Callable[[], Any]) -> None:
    life.crash_at = point
    try:
        run()
    except Crash:
        pass
    finally:
        life.crash_at = None
    life._alive = None


def _repeat_operation(
    trial: Trial, life: InstrumentedLifecycle, point: int, run: Callable[[], Any]
) -> None:
    try:
        life.repeat(run)
    except Exception as error:  # the border: a plug-in's calls
        policy = trial.cls.start_policy
        text = (
            f"start_policy is {policy}, but the second call after a crash "
            f"{_format_crash_point(point)} fails"
        )
        raise Violated(f"{text}: {describe_error(trial.cls, error)}") from error


def _delete_after_crash(trial: Trial, life: InstrumentedLifecycle, point: int) -> None:
    try:
        life.delete()
    except Exception as error:  # the border: a plug-in's calls
        raise Violated(
            f"delete after a crash {_format_crash_point(point)} fails: "
            f"{describe_error(trial.cls, error)}"
        ) from error
    trial.expect_nothing_left(f"a crash {_format_crash_point(point)} and delete")


def _format_crash_point(point: int) -> str:
    return (
        "after the handler"
        if point == InstrumentedLifecycle.END
        else f"after write {point} of the handler"
    )


RULES: Final = {
    "restart between all calls": check_restart_between_calls,
    "crash in create": check_crash_in_create,
    "crash in update": check_crash_in_update,
    "crash in delete": check_crash_in_delete,
}

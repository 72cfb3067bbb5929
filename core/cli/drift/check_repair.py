"""``zonda stack drift check`` and ``drift repair``: compare live resources, repair drift."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from zonda.core.engine.actions import CheckDrift, RepairDrift
from zonda.core.store.read.drift_views import DriftCheckView, DriftFindingView
from zonda.core.store.read.views import StackView
from zonda.core.store.schema.words import COMPLETE, DRIFTED, INTERRUPTED, MISSING, UNKNOWN

from ..arguments import NESTED_STACK, argument, epilog, takes
from ..console import drift, formats, plan_tree, streams
from ..options.nested import resolve_scope
from ..progress import result, run_action
from ..session import Session

#: Seconds between two looks at a check that runs.
LOOK_AGAIN = 0.2
#: Looks after which a person is told that it takes longer.
_SAY_AFTER = 15
#: The most restarts of a check whose process has ended: that may be a short command.
_AGAIN = 3
FAILED = 1
#: The most resources left alone that are named.
_MOST = 5


_ARGUMENTS = (
    NESTED_STACK,
    argument(
        "resources",
        metavar="RESOURCE",
        nargs="*",
        help="name, or OWNER/NAME of a nested one; none: all, with what is nested in them",
    ),
)


@takes(
    *_ARGUMENTS,
    formats.add_text_format,
    epilog("exit codes: 0 in sync, 3 drifted or missing, 4 cannot tell, 1 failed, 2 usage"),
)
def check(session: Session, arguments: argparse.Namespace) -> int:
    """Compare resources with their template. Nothing is changed."""
    stack, resources = resolve_scope(session, arguments.stack, arguments.resources)
    action = CheckDrift(stack.id, tuple(resources))
    found = _run_check(session, action)
    for _ in range(_AGAIN):
        if found.status != INTERRUPTED:
            break
        session.screen.say("The process that looked for us has ended: looking again.")
        found = _run_check(session, action)
    show_check(session, arguments.format, stack, found)
    return choose_exit_code(found)


def choose_exit_code(found: DriftCheckView) -> int:
    """Choose the exit code of a check; a check that did not complete has failed."""
    return drift.EXIT_OF_VERDICT[found.verdict] if found.status == COMPLETE else FAILED


def _run_check(session: Session, action: CheckDrift) -> DriftCheckView:
    """Run the check to its end; the process that carries it out may die."""
    check_id = session.app.engine.act(action, drive=False).check_id
    found, looks = session.app.engine.wait_for_check(check_id, LOOK_AGAIN), 1
    while found.is_running:
        if looks == _SAY_AFTER:
            session.screen.say(f"Still looking (check {check_id}).")
        found, looks = session.app.engine.wait_for_check(check_id, LOOK_AGAIN), looks + 1
    return found


def show_check(session: Session, form: str, stack: StackView, found: DriftCheckView) -> None:
    """Show a check with all its findings."""
    findings = session.app.reader.drift_findings(found.id)
    screen = session.screen
    with streams.ignore_closed_output():
        if form == "table":
            for line in drift.format_check(found, findings, stack.name):
                screen.draw(line)
        else:
            shown = drift.check_as_data(found, stack.name)
            shown["findings"] = [drift.finding_as_data(each) for each in findings]
            formats.write_data(screen.out, form, shown)


@takes(
    *_ARGUMENTS,
    argument(
        "--plan", "--dry-run", action="store_true", help="show what would be done, and do nothing"
    ),
    run_action.add_waiting,
    result.add_field_arguments,
    epilog(
        "exit codes: 0 done, 1 failed; where nothing was repaired 3 something has drifted and is "
        "left alone, 4 something is UNKNOWN; "
        "with --plan those of 'drift check'"
    ),
)
def repair(session: Session, arguments: argparse.Namespace) -> int:
    """Repair resources that have drifted or are missing, and nothing else."""
    stack, resources = resolve_scope(session, arguments.stack, arguments.resources)
    action = RepairDrift(stack.id, tuple(resources))
    if arguments.plan:
        return _show_plan(session, arguments.format, stack, action)
    running = session.app.engine.act(action, drive=arguments.wait)
    findings: list[DriftFindingView] = []
    if running.check_id:
        seen = session.app.reader.drift_check(running.check_id)
        findings = session.app.reader.drift_findings(seen.id)
        _say_findings(session, seen, findings, running.name)
    if running.generation == stack.generation:
        return _report_nothing_repaired(session, stack, findings)
    return run_action.wait_for_end(session, arguments, running, "UPDATE")


def _show_plan(session: Session, form: str | None, stack: StackView, action: RepairDrift) -> int:
    """Show the plan of a repair with the findings; the exit code is that of a check."""
    found = session.app.stacks.plan(action)
    assert found.seen is not None
    check, findings = found.seen
    _say_findings(session, check, findings, stack.name)
    if check.verdict == UNKNOWN:
        _report_nothing_repaired(session, stack, findings)
    plan_tree.show_plan(session.screen, form, found.document)
    return FAILED if found.fails else choose_exit_code(check)


def _report_nothing_repaired(
    session: Session, stack: StackView, findings: Iterable[DriftFindingView]
) -> int:
    """Report that nothing was repaired; resources may be unknown or drifted all the same."""
    by_verdict: dict[str, list[str]] = {}
    for each in findings:
        by_verdict.setdefault(each.verdict, []).append(each.path)
    wrong = sorted([*by_verdict.get(DRIFTED, ()), *by_verdict.get(MISSING, ())])
    unknown = len(by_verdict.get(UNKNOWN, ()))
    say = session.screen.say
    if wrong:
        more = f" and {len(wrong) - _MOST} more" if len(wrong) > _MOST else ""
        named = f"{', '.join(wrong[:_MOST])}{more}"
        say(f"Stack {stack.name}: nothing was repaired; what has drifted is left alone: {named}.")
        return drift.EXIT_OF_VERDICT[DRIFTED]
    if unknown:
        say(
            f"Stack {stack.name}: nothing that could be looked at needs a repair; "
            f"of {unknown} nobody can tell."
        )
        return drift.EXIT_OF_VERDICT[UNKNOWN]
    say(f"Stack {stack.name}: there is nothing to repair.")
    return 0


def _say_findings(
    session: Session, check: DriftCheckView, findings: list[DriftFindingView], name: str
) -> None:
    """Print the findings of the check before the repair."""
    for line in drift.format_check(check, findings, name, session.screen.colour_message):
        session.screen.say(line)
    if any(each.verdict == UNKNOWN for each in findings):
        session.screen.say("What is UNKNOWN is left alone.")

"""What a run of these tests through a server leaves out, and why."""

from __future__ import annotations

from zonda.core.cli.commands import find_longest

#: Beginnings of commands that are for this machine: a remote run has them work on the home.
LOCAL = (
    *("db", "member", "duty", "engine", "serve", "runner", "sink", "type", "token"),
    *("plugin check", "plugin new"),
    *("demo", "doctor", "completion", "help", "man", "version", "explain", "resource type docs"),
)

_GOES_ON = "a server carries on what a command leaves with --no-wait"
_ALWAYS = "with a server there is always an engine"
_HOME = "a server has made its home before the command begins"
_BROKEN = "no server starts with such settings, or in such a home"
_LOG = "the engine's log is that of the server's process"
_INTERRUPT = "what a plug-in interrupts as it is loaded is the start of the server, here the tests"
_SIMULATED = "a server makes its stacks for real"
_BESIDE = "the test runs an engine of its own in the home, beside the command"

#: Reason by test, or by the beginning of its name below this folder.
LEFT_OUT: dict[str, str] = {
    "drift/test_drift.py::test_schedules": _ALWAYS,
    "inspect/test_why.py::test_nobody_is_at_work": _ALWAYS,
    "inspect/test_why.py::test_what_is_planned_waits_for_whom": _GOES_ON,
    "inspect/test_nested.py::test_a_breakpoint_inside_is_listed_and_cleared": _BESIDE,
    "inspect/test_nested.py::test_what_happens_inside_is_told_while_a_command_runs": _BESIDE,
    "options/test_remote_templates.py::test_an_address_that_cannot_be_used_is_one_error": _HOME,
    "plugins/test_failures.py::test_a_plug_in_that_raises_when_it_is_loaded": _INTERRUPT,
    "progress/test_busy_stacks.py": _BESIDE,
    "progress/test_ends.py::test_a_database_that": _BROKEN,
    "progress/test_ends.py::test_a_lost_key_stops_every_command": _BROKEN,
    "progress/test_ends.py::test_all_faults_of_the_settings_are_told_by_any_command": _BROKEN,
    "progress/test_ends.py::test_cancelling_rolls_back_unless_told_otherwise": _GOES_ON,
    "console/test_problems.py::test_each_fault_of_the_settings_has_a_line": _BROKEN,
    "stack/test_move.py::test_a_stack_at_work_moves_nothing": _GOES_ON,
    "stack/test_plan.py::test_a_new_stack_is_planned_where_nothing_is_yet": _HOME,
    "stack/test_plan.py::test_the_whole_way": _HOME,
    "stack/test_plan.py::test_a_stack_in_progress_can_be_planned_beside_what_runs": _GOES_ON,
    "stack/test_policies.py::test_hooks_are_polled_and_cleared_beside_the_command": _BESIDE,
    "stack/test_policies.py::test_other_commands_end_a_wait": _BESIDE,
    "stack/test_rollback_and_ownership.py::test_what_is_in_progress_is_abandoned": _GOES_ON,
    "stack/test_simulation.py": _SIMULATED,
    "stack/test_stacks.py::test_a_plan_is_carried_out_later": _GOES_ON,
    "stack/test_stacks.py::test_actions_of_one_stack_show_it_where_that_is_asked_for": _GOES_ON,
    "stack/test_stacks.py::test_validate_leaves_nothing_behind": _HOME,
    "stack/test_policies.py::test_a_wait_outlives_the_command_that_waited": _GOES_ON,
    "test_engine_log.py": _LOG,
    "test_no_home.py": _HOME,
    "test_projects.py::test_a_project_has_a_name": _BROKEN,
}


def find_reason(name: str) -> str:
    """Find why a test is left out; '' for one that is not. ``name``: its node id."""
    below = name.partition("tests/cli/")[2]
    return next((why for start, why in LEFT_OUT.items() if below.startswith(start)), "")


def is_local(words: list[str]) -> bool:
    """Whether a command is for this machine, or no command at all."""
    command = _split(words)[1]
    name = find_longest(command)[0]
    return not name or any(name == each or name.startswith(f"{each} ") for each in LOCAL)


def read_flags(words: list[str]) -> dict[str, str]:
    """Read the settings that a command line gives: the server has the same."""
    return _split(words)[0]


def _split(words: list[str]) -> tuple[dict[str, str], list[str]]:
    flags: dict[str, str] = {}
    rest: list[str] = []
    pending = iter(words)
    for word in pending:
        if word == "--home":
            flags["home"] = next(pending)
        elif word == "--set":
            name, _, value = next(pending).partition("=")
            flags[name] = value
        else:
            rest.append(word)
    while rest and rest[0].startswith("-"):
        rest.pop(0)
    return flags, rest

"""The table of commands: words -> module, name of its function, one line of help.

``NAME(session, arguments)`` carries the command out (``NAME(arguments)``, see ``alone``); it gives
the exit code, or nothing for 0, and ``takes`` declares its arguments. Read by ``main``, by
``parsers`` and by the test that compares it with the docs.
"""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """One command. ``module`` is below this folder.

    ``alone``: it is carried out without a session, since it needs no settings and no home.
    """

    module: str
    name: str
    help: str
    alone: bool = False


_TABLE = {
    "stack create": ("stack.create_update_delete", "create", "Create a stack from a template."),
    "stack update": ("stack.create_update_delete", "update", "Change a stack to fit a template."),
    "stack plan": ("stack.plan_apply", "plan", "Show what would be done, and why."),
    "stack apply": ("stack.plan_apply", "apply", "Do exactly what a plan says, or refuse."),
    "stack delete": ("stack.create_update_delete", "delete", "Delete stacks and all they own."),
    "stack list": ("inspect.show", "list_stacks", "List stacks."),
    "stack show": ("inspect.show", "show", "Show one stack."),
    "stack history": ("inspect.history", "history", "List what was done to a stack, by whom."),
    "stack diff": ("inspect.diff", "diff", "Show what differs between two generations."),
    "stack why": ("inspect.why", "why", "Explain why a stack or a resource is as it is."),
    "stack failures list": (
        "inspect.failures",
        "list_failures",
        "List what has failed, down to the innermost.",
    ),
    "stack graph": ("inspect.graph", "graph", "Draw who needs whom in a stack, and why."),
    "stack rollback": ("stack.rollback_retry", "rollback", "Make a stack what it was before."),
    "stack retry": ("stack.rollback_retry", "retry", "Do once more what failed, and only that."),
    "stack cancel": ("stack.actions", "cancel", "Cancel a running create or update."),
    "stack suspend": ("stack.actions", "suspend", "Suspend the resources of a stack."),
    "stack resume": ("stack.actions", "resume", "Resume the resources of a stack."),
    "stack check": ("stack.actions", "check", "Ask every resource whether it is still well."),
    "stack wait": ("stack.actions", "wait", "Continue an interrupted command to its end."),
    "stack snapshot create": ("stack.snapshot", "create", "Take a snapshot of a stack."),
    "stack snapshot list": ("stack.snapshot", "list_snapshots", "List snapshots of a stack."),
    "stack snapshot show": ("stack.snapshot", "show", "Show what a snapshot keeps."),
    "stack snapshot delete": ("stack.snapshot", "delete", "Delete a snapshot."),
    "stack snapshot restore": ("stack.snapshot", "restore", "Go back to a snapshot."),
    "stack export": ("stack.export_adopt", "export", "Print all that is known of a stack."),
    "stack abandon": (
        "stack.export_adopt",
        "abandon",
        "Forget a stack and leave what it made alone.",
    ),
    "stack adopt": ("stack.export_adopt", "adopt", "Make a stack of what exists already."),
    "stack import": ("stack.import_resource", "bind", "Bind what exists to one resource."),
    "stack environment show": (
        "inspect.sources",
        "environment",
        "Show the environment of a stack.",
    ),
    "stack template show": ("inspect.sources", "template", "Show the template of a stack."),
    "stack file list": ("inspect.sources", "files", "Show the files of a stack's template."),
    "stack output list": ("inspect.outputs", "list_outputs", "List the outputs of a stack."),
    "stack output show": ("inspect.outputs", "show", "Show the value of an output."),
    "stack resource list": ("inspect.resources", "list_resources", "List resources of a stack."),
    "stack resource show": ("inspect.resources", "show", "Show one resource of a stack."),
    "stack resource signal": ("stack.signal", "signal", "Send a signal to a resource."),
    "stack resource move": (
        "stack.signal",
        "move",
        "Have the next update find a resource under another name.",
    ),
    "stack resource mark unhealthy": (
        "stack.signal",
        "mark",
        "Have the next update replace a resource.",
    ),
    "stack hook poll": ("stack.hook", "poll", "List what waits at a breakpoint."),
    "stack hook clear": ("stack.hook", "clear", "Let what waits at a breakpoint go on."),
    "stack protect": ("stack.protect", "protect", "Protect a stack, or resources of it."),
    "stack unprotect": (
        "stack.protect",
        "unprotect",
        "Protect a stack, or resources of it, no more.",
    ),
    "stack drift check": (
        "drift.check_repair",
        "check",
        "Look whether resources still are what they should be.",
    ),
    "stack drift show": ("drift.show", "show", "Show what has drifted, and how."),
    "stack drift history": ("drift.show", "history", "List the drift checks of a stack."),
    "stack drift schedule": (
        "drift.schedule_ignore",
        "schedule",
        "Set when a stack is checked for drift, or show it.",
    ),
    "stack drift ignore": (
        "drift.schedule_ignore",
        "ignore",
        "Have the drift of a resource or a property count as none.",
    ),
    "stack drift ignore list": (
        "drift.schedule_ignore",
        "list_ignores",
        "List what drift is ignored, and why.",
    ),
    "stack drift ignore remove": (
        "drift.schedule_ignore",
        "remove_ignore",
        "Have ignored drift count again.",
    ),
    "stack drift repair": (
        "drift.check_repair",
        "repair",
        "Put right what has drifted or is missing, and nothing else.",
    ),
    "stack event list": ("inspect.events", "list_events", "List what happened to a stack."),
    "template validate": ("template.validate", "validate", "Show every fault of a template."),
    "template graph": (
        "inspect.graph",
        "template_graph",
        "Draw who needs whom in a template, and why.",
    ),
    "template schema": (
        "template.schema",
        "schema",
        "Print a JSON Schema of templates, for editors.",
    ),
    "template explain-type": (
        "template.explain_type",
        "explain_type",
        "Explain what a type means, and which rule says so.",
    ),
    "template parameters": (
        "template.parameters",
        "parameters",
        "List all that a tree of templates can be given.",
    ),
    "template version list": ("template.validate", "versions", "List template versions."),
    "template function list": ("template.validate", "functions", "List a version's functions."),
    "capabilities find": ("template.capabilities", "find", "Find templates by what they offer."),
    "capabilities summary": (
        "template.capabilities",
        "summary",
        "Sum up what can be required of templates.",
    ),
    "resource type list": ("types.show", "list_types", "List resource types."),
    "resource type show": ("types.show", "show", "Show what a resource type takes and gives."),
    "resource type docs": ("types.docs", "docs", "Write the reference of resource types."),
    "resource type template": ("types.docs", "template", "Print a template for a resource type."),
    "type new": ("types.new", "new", "Begin a type of resource that workflows make."),
    "type schema": ("types.new", "schema", "Print a JSON Schema of manifests, for editors."),
    "explain": ("template.explain", "explain", "Explain the code of an error or a warning."),
    "plugin list": ("plugins.list", "list_plugins", "List plug-ins and what they bring."),
    "plugin new": ("plugins.new", "new", "Begin a plug-in package of your own."),
    "plugin check": ("plugins.check", "check", "Check the rules that plug-ins keep."),
    "cloud check": ("services.cloud", "check", "Check credentials and services of a cloud."),
    "sink list": ("services.sinks", "list_sinks", "List who is told of events, and how far."),
    "sink test": ("services.sinks", "test", "Send a test event to a sink."),
    "sink skip": ("services.sinks", "skip", "Give up what waits for a sink, and go on from now."),
    "db status": ("database.status", "status", "Show the database: its schema, engine and key."),
    "db check": ("database.status", "check", "Check every page, reference and value."),
    "db upgrade": ("database.status", "upgrade", "Bring the database up to date."),
    "db copy": ("database.copy", "copy", "Copy all of a database to another one."),
    "db backup": ("database.backup", "back_up", "Write a backup, also while an engine runs."),
    "db restore": ("database.backup", "restore", "Make the database what a backup says."),
    "member list": ("database.members", "list_members", "List the engines on one PostgreSQL."),
    "member drain": ("database.members", "drain", "Have an engine hand its stacks to others."),
    "duty list": ("database.members", "list_duties", "List the stacks that engines look after."),
    "runner serve": ("services.serve", "runner", "Run workflows of a file behind HTTP."),
    "runner check": ("services.runner_check", "check", "Check what an endpoint must do."),
    "runner stop": ("services.serve", "stop", "Stop the service that runs workflows."),
    "engine run": ("services.serve", "engine", "Drive all stacks until stopped."),
    "serve": ("services.serve", "serve", "Be the long-running service: 'engine run', and the API."),
    "token create": ("services.tokens", "create", "Make a token for a user of the API."),
    "token list": ("services.tokens", "list_all", "List the tokens of users of the API."),
    "token revoke": ("services.tokens", "revoke", "Revoke a token of a user of the API."),
    "demo": ("services.demo", "demo", "Create the example stack, and show what was made."),
    "completion": (
        "shell.completion_scripts",
        "completion",
        "Print what makes a shell complete zonda.",
    ),
    "help": ("shell.own_commands", "help_of", "Show the help of a command."),
    "man": ("shell.manual", "man", "Print the manual page."),
    "doctor": ("services.doctor", "doctor", "Tell what is wrong with this installation."),
    "version": ("shell.own_commands", "version", "Show the version of zonda."),
}
#: Commands without a session, since they need no settings and no home.
_ALONE = frozenset({"completion", "help", "man", "version"})

COMMANDS = {name: Command(*row, alone=name in _ALONE) for name, row in _TABLE.items()}


def find_longest(words: list[str]) -> tuple[str, int]:
    """Find the command that ``words`` begin with, and its number of words; ("", 0) if none."""
    for length in (4, 3, 2, 1):
        name = " ".join(words[:length])
        if name in COMMANDS and len(words) >= length:
            return name, length
    return "", 0


def list_group(words: list[str]) -> dict[str, Command]:
    """List the commands below a prefix such as ``stack output``; all of them for no words."""
    prefix = " ".join(words)
    return {
        name: command
        for name, command in COMMANDS.items()
        if not prefix or name == prefix or name.startswith(f"{prefix} ")
    }

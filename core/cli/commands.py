"""The table of commands: words -> module, name of its two functions, one line of help.

``NAME_arguments(parser)`` declares the arguments, ``NAME(session, arguments)`` carries the command
out and gives the exit code (``NAME(arguments)``, see ``alone``). Read by ``main``, by ``parsers``
and by the test that compares it with the docs.
"""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """One command. ``module`` is a neighbour of this file.

    ``alone``: it is carried out without a session, since it needs no settings and no home.
    """

    module: str
    name: str
    help: str
    alone: bool = False


COMMANDS = {
    "stack create": Command("stack_change", "create", "Create a stack from a template."),
    "stack update": Command("stack_change", "update", "Change a stack to fit a template."),
    "stack plan": Command("stack_plan", "plan", "Show what would be done, and why."),
    "stack apply": Command("stack_plan", "apply", "Do exactly what a plan says, or refuse."),
    "stack delete": Command("stack_change", "delete", "Delete stacks and all they own."),
    "stack list": Command("stack_show", "list_stacks", "List stacks."),
    "stack show": Command("stack_show", "show", "Show one stack."),
    "stack history": Command("history_show", "history", "List what was done to a stack, by whom."),
    "stack diff": Command("diff_show", "diff", "Show what differs between two generations."),
    "stack why": Command("why_show", "why", "Explain why a stack or a resource is as it is."),
    "stack failures list": Command(
        "failures_list", "list_failures", "List what has failed, down to the innermost."
    ),
    "stack graph": Command("graph_show", "graph", "Draw who needs whom in a stack, and why."),
    "stack rollback": Command("stack_again", "rollback", "Make a stack what it was before."),
    "stack retry": Command("stack_again", "retry", "Do once more what failed, and only that."),
    "stack cancel": Command("stack_action", "cancel", "Cancel a running create or update."),
    "stack suspend": Command("stack_action", "suspend", "Suspend the resources of a stack."),
    "stack resume": Command("stack_action", "resume", "Resume the resources of a stack."),
    "stack check": Command("stack_action", "check", "Ask every resource whether it is still well."),
    "stack wait": Command("stack_action", "wait", "Continue an interrupted command to its end."),
    "stack snapshot create": Command("snapshots", "create", "Take a snapshot of a stack."),
    "stack snapshot list": Command("snapshots", "list_snapshots", "List snapshots of a stack."),
    "stack snapshot show": Command("snapshots", "show", "Show what a snapshot keeps."),
    "stack snapshot delete": Command("snapshots", "delete", "Delete a snapshot."),
    "stack snapshot restore": Command("snapshots", "restore", "Go back to a snapshot."),
    "stack export": Command("stack_document", "export", "Print all that is known of a stack."),
    "stack abandon": Command(
        "stack_document", "abandon", "Forget a stack and leave what it made alone."
    ),
    "stack adopt": Command("stack_document", "adopt", "Make a stack of what exists already."),
    "stack import": Command("stack_import", "bind", "Bind what exists to one resource."),
    "stack environment show": Command(
        "stack_sources", "environment", "Show the environment of a stack."
    ),
    "stack template show": Command("stack_sources", "template", "Show the template of a stack."),
    "stack file list": Command("stack_sources", "files", "Show the files of a stack's template."),
    "stack output list": Command("output_show", "list_outputs", "List the outputs of a stack."),
    "stack output show": Command("output_show", "show", "Show the value of an output."),
    "stack resource list": Command("resource_show", "list_resources", "List resources of a stack."),
    "stack resource show": Command("resource_show", "show", "Show one resource of a stack."),
    "stack resource signal": Command("resource_change", "signal", "Send a signal to a resource."),
    "stack resource move": Command(
        "resource_change", "move", "Have the next update find a resource under another name."
    ),
    "stack resource mark unhealthy": Command(
        "resource_change", "mark", "Have the next update replace a resource."
    ),
    "stack hook poll": Command("hook_commands", "poll", "List what waits at a breakpoint."),
    "stack hook clear": Command("hook_commands", "clear", "Let what waits at a breakpoint go on."),
    "stack protect": Command("protect_commands", "protect", "Protect a stack, or resources of it."),
    "stack unprotect": Command(
        "protect_commands", "unprotect", "Protect a stack, or resources of it, no more."
    ),
    "stack drift check": Command(
        "drift_check", "check", "Look whether resources still are what they should be."
    ),
    "stack drift show": Command("drift_show", "show", "Show what has drifted, and how."),
    "stack drift history": Command("drift_show", "history", "List the drift checks of a stack."),
    "stack drift schedule": Command(
        "drift_settings", "schedule", "Set when a stack is checked for drift, or show it."
    ),
    "stack drift ignore": Command(
        "drift_settings", "ignore", "Have the drift of a resource or a property count as none."
    ),
    "stack drift ignore list": Command(
        "drift_settings", "list_ignores", "List what drift is ignored, and why."
    ),
    "stack drift ignore remove": Command(
        "drift_settings", "remove_ignore", "Have ignored drift count again."
    ),
    "stack drift repair": Command(
        "drift_check", "repair", "Put right what has drifted or is missing, and nothing else."
    ),
    "stack event list": Command("event_show", "list_events", "List what happened to a stack."),
    "template validate": Command("template_show", "validate", "Show every fault of a template."),
    "template graph": Command(
        "graph_show", "template_graph", "Draw who needs whom in a template, and why."
    ),
    "template schema": Command(
        "template_schema", "schema", "Print a JSON Schema of templates, for editors."
    ),
    "template explain-type": Command(
        "explain_type", "explain_type", "Explain what a type means, and which rule says so."
    ),
    "template parameters": Command(
        "template_parameters", "parameters", "List all that a tree of templates can be given."
    ),
    "template version list": Command("template_show", "versions", "List template versions."),
    "template function list": Command("template_show", "functions", "List a version's functions."),
    "capabilities find": Command("capabilities", "find", "Find templates by what they offer."),
    "capabilities summary": Command(
        "capabilities", "summary", "Sum up what can be required of templates."
    ),
    "resource type list": Command("type_show", "list_types", "List resource types."),
    "resource type show": Command(
        "type_show", "show", "Show what a resource type takes and gives."
    ),
    "resource type docs": Command("type_docs", "docs", "Write the reference of resource types."),
    "resource type template": Command(
        "type_docs", "template", "Print a template for a resource type."
    ),
    "type new": Command("type_new", "new", "Begin a type of resource that workflows make."),
    "type schema": Command("type_new", "schema", "Print a JSON Schema of manifests, for editors."),
    "explain": Command("explain_show", "explain", "Explain the code of an error or a warning."),
    "plugin list": Command("plugin_list", "list_plugins", "List plug-ins and what they bring."),
    "plugin new": Command("plugin_new", "new", "Begin a plug-in package of your own."),
    "plugin check": Command("plugin_check", "check", "Check the rules that plug-ins keep."),
    "sink list": Command("sinks", "list_sinks", "List who is told of events, and how far."),
    "sink test": Command("sinks", "test", "Send a test event to a sink."),
    "sink skip": Command("sinks", "skip", "Give up what waits for a sink, and go on from now."),
    "runner serve": Command("serve", "runner", "Run workflows of a file behind HTTP."),
    "runner check": Command("runner_check", "check", "Check what an endpoint must do."),
    "runner stop": Command("serve", "stop", "Stop the service that runs workflows."),
    "engine run": Command("serve", "engine", "Drive all stacks until stopped."),
    "serve": Command("serve", "serve", "Be the long-running service: 'engine run', and the API."),
    "demo": Command("demo", "demo", "Create the example stack, and show what was made."),
    "completion": Command(
        "completion_scripts", "completion", "Print what makes a shell complete zonda.", alone=True
    ),
    "help": Command("own_commands", "help_of", "Show the help of a command.", alone=True),
    "man": Command("manual", "man", "Print the manual page.", alone=True),
    "doctor": Command("doctor", "doctor", "Tell what is wrong with this installation."),
    "version": Command("own_commands", "version", "Show the version of zonda.", alone=True),
}


def longest(words: list[str]) -> tuple[str, int]:
    """The command that ``words`` begin with, and how many words it takes; ("", 0) if none."""
    for length in (4, 3, 2, 1):
        name = " ".join(words[:length])
        if name in COMMANDS and len(words) >= length:
            return name, length
    return "", 0


def group(words: list[str]) -> dict[str, Command]:
    """The commands below a prefix such as ``stack output``; all of them for no words."""
    prefix = " ".join(words)
    return {
        name: command
        for name, command in COMMANDS.items()
        if not prefix or name == prefix or name.startswith(f"{prefix} ")
    }

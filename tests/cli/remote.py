"""What a run of these tests through a server leaves out, and why."""

from __future__ import annotations

from zonda.core.cli.commands import find_longest

#: Beginnings of commands that are for this machine: a remote run has them work on the home.
LOCAL = (
    *("engine", "serve", "runner", "sink", "plugin", "type", "token", "demo", "doctor"),
    *("completion", "help", "man", "version", "explain", "resource type"),
    *("template schema", "template function"),
)

#: Reason by test, or by the beginning of its name.
LEFT_OUT: dict[str, str] = {}


def find_reason(name: str) -> str:
    """Find why a test is left out; '' for one that is not."""
    return next((why for start, why in LEFT_OUT.items() if name.startswith(start)), "")


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

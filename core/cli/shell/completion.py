"""Completion of a command line: commands, options, their values, stacks and resources.

Called by ``main`` for ``zonda __complete SHELL WORD...``, which the scripts of ``zonda completion``
run at each press of a key. So nothing is imported that is not needed; ``completions.txt`` tells of
the commands. The first line of the answer says what it is: ``words`` (each with a tab and its
meaning), ``files`` or ``folders``, which the shell knows better.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ..console import streams

#: A candidate, and what it means.
_Word = tuple[str, str]
_ASKS_SHELL = {"file": "files", "folder": "folders"}


class _Option(NamedTuple):
    flags: list[str]
    kind: str
    help: str


class _Command(NamedTuple):
    name: str
    help: str
    arguments: list[str]
    options: list[_Option]


_Commands = dict[str, _Command]


class _CommandLine(NamedTuple):
    """A parsed command line up to the word that is completed."""

    arguments: list[str]
    flags: set[str]
    #: The option whose value comes next.
    open: _Option | None
    home: str | None
    settings: dict[str, str]


def complete(words: Sequence[str]) -> int:
    """Print the completions of the last of ``words``; the first word is the shell."""
    shell, *typed = words
    if shell == "bash":
        typed = _join_assignments(typed)
    *before, current = typed or [""]
    kind, found = _list_candidates(before, current)
    prefix = current.rpartition("=")[0] + "=" if _is_assignment(current) else ""
    if prefix and shell != "bash":  # bash completes what stands behind the equals sign
        found = [(prefix + word, meaning) for word, meaning in found]
    lines = [kind, *(f"{word}\t{meaning}" for word, meaning in found)]
    streams.ResultStream(sys.stdout).write("\n".join(lines) + "\n")
    return 0


def _join_assignments(words: Sequence[str]) -> list[str]:
    """Join ``--format=json``, which bash splits into three words."""
    found: list[str] = []
    for word in words:
        is_value = len(found) > 0 and found[-1].startswith("--") and found[-1].endswith("=")
        if (word == "=" and found and found[-1].startswith("--")) or is_value:
            found[-1] += word
        else:
            found.append(word)
    return found


def _is_assignment(word: str) -> bool:
    return word.startswith("--") and "=" in word


def _list_candidates(before: Sequence[str], current: str) -> tuple[str, list[_Word]]:
    general, known = _load_table()
    leading, rest = _split_leading(general, before)
    command, length = _find_command(known, rest)
    options = [*general.options, *(command.options if command else ())]
    typed = _parse_line(options, [*leading, *rest[length:]] if command else leading)
    if typed.open is not None:
        return _list_by_kind(typed.open.kind, current, typed, known)
    if _is_assignment(current):
        flag, _, value = current.partition("=")
        kinds = [each.kind for each in options if flag in each.flags]
        return _list_by_kind(kinds[0], value, typed, known) if kinds else ("words", [])
    if current.startswith("-"):
        return "words", list(_list_flags(options, typed.flags, current))
    words = [] if command and rest[length:] else list(_list_next_words(known, rest, current))
    kind = _get_argument_kind(command, len(typed.arguments)) if command else ""
    what, more = _list_by_kind(kind, current, typed, known)
    return ("words" if words else what), [*words, *more]


def _load_table() -> tuple[_Command, _Commands]:
    text = Path(__file__).with_name("completions.txt").read_text(encoding="utf-8")
    general, *known = (_parse_command(line) for line in text.splitlines())
    return general, {each.name: each for each in known}


def _parse_command(line: str) -> _Command:
    name, meaning, arguments, *options = line.split("\t")
    return _Command(name, meaning, arguments.split(), [_parse_option(each) for each in options])


def _parse_option(text: str) -> _Option:
    flags, kind, meaning = text.split(" ", 2)
    return _Option(flags.split(","), kind, meaning)


def _split_leading(general: _Command, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split off the options in front of the command's words."""
    takes = {flag for each in general.options if each.kind != "-" for flag in each.flags}
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in takes else 1
    return list(words[:at]), list(words[at:])


def _find_command(known: _Commands, words: Sequence[str]) -> tuple[_Command | None, int]:
    for length in range(min(len(words), 4), 0, -1):
        if (found := known.get(" ".join(words[:length]))) is not None:
            return found, length
    return None, 0


def _parse_line(options: Sequence[_Option], words: Sequence[str]) -> _CommandLine:
    by_flag = {flag: each for each in options for flag in each.flags}
    typed = _CommandLine([], set(), None, None, {})
    open_: _Option | None = None
    for word in words:
        if open_ is not None:
            typed = _set_value(typed, open_, word)
            open_ = None
        elif word.startswith("-") and len(word) > 1:
            flag, equals, value = word.partition("=")
            option = by_flag.get(flag)
            if option is None:
                continue
            if not option.kind.endswith("*"):
                typed.flags.update(option.flags)
            if equals:
                typed = _set_value(typed, option, value)
            elif option.kind != "-":
                open_ = option
        else:
            typed.arguments.append(word)
    return typed._replace(open=open_)


def _set_value(typed: _CommandLine, option: _Option, value: str) -> _CommandLine:
    if "--home" in option.flags:
        return typed._replace(home=value)
    if "--set" in option.flags:
        name, _, text = value.partition("=")
        typed.settings[name] = text
    return typed


def _list_next_words(known: _Commands, words: Sequence[str], current: str) -> Iterator[_Word]:
    """List the next words of a command's name; a complete name has its help."""
    start = "".join(f"{word} " for word in words)
    names = (name for name in known if name.startswith(start + current))
    for word in dict.fromkeys(name.removeprefix(start).split(" ")[0] for name in names):
        command = known.get(start + word)
        yield word, command.help if command else ""


def _get_argument_kind(command: _Command, number: int) -> str:
    """Return the kind of the argument after ``number`` others; the last one may repeat."""
    if number < len(command.arguments):
        return command.arguments[number]
    last = command.arguments[-1:]
    return last[0] if last and last[0].endswith("*") else ""


def _list_flags(options: Sequence[_Option], used: set[str], current: str) -> Iterator[_Word]:
    for each in options:
        if not used & set(each.flags):
            yield from ((flag, each.help) for flag in each.flags if flag.startswith(current))


def _list_by_kind(
    kind: str, current: str, typed: _CommandLine, known: _Commands
) -> tuple[str, list[_Word]]:
    several, kind = kind.endswith("*"), kind.removesuffix("*")
    if kind in _ASKS_SHELL:
        return _ASKS_SHELL[kind], []
    if kind.startswith("{"):
        words = [(word, "") for word in kind[1:-1].split(",")]
    elif kind == "command":
        words = list(_list_next_words(known, typed.arguments, current))
    elif kind in ("stack", "resource"):
        words = _list_names(kind, current, typed)
        words = [each for each in words if not (several and each[0] in typed.arguments)]
    else:
        return "words", []
    return "words", [each for each in words if each[0].startswith(current)]


def _list_names(kind: str, current: str, typed: _CommandLine) -> list[_Word]:
    """List stacks, or resources of the stack that was named before; after a slash nested ones."""
    from zonda.core.settings.settings import load_settings
    from zonda.core.store.read import names
    from zonda.hooks.errors import UsageError

    try:
        home = {"home": typed.home} if typed.home else {}
        settings = load_settings({**typed.settings, **home})
    except UsageError:
        return []
    url, project = settings.database_url, settings.project
    above = current.rpartition("/")[0]
    if kind == "stack" and not above:
        return [(name, "") for name in names.list_stack_names(url, project)]
    if kind == "resource" and not typed.arguments:
        return []
    path = "/".join(filter(None, (typed.arguments[0] if kind == "resource" else "", above)))
    found = names.list_resource_names(url, project, path)
    start = f"{above}/" if above else ""
    return [
        (start + name, "") for name, is_owner in found.items() if is_owner or kind == "resource"
    ]

"""``zonda man``: the manual page zonda(1), made from the parsers of all commands.

It imports every command, which takes a moment; nobody waits for it but who installs the page.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator

import zonda

from .. import commands, parsers
from ..arguments import epilog, takes
from ..console import streams

_TEXT = """.SH NAME
zonda \\- a standalone orchestration engine that speaks the language of OpenStack Heat
.SH SYNOPSIS
.B zonda
.I COMMAND
.RI [ options ]
.SH DESCRIPTION
zonda makes stacks of resources from HOT templates: it finds their order, creates, updates or
replaces, suspends, resumes, checks and deletes them, and keeps durable state, so that a crash is
picked up where it was.
Results go to standard output, everything else to standard error.
"""
_ENDING = """.SH EXIT STATUS
.TP
.B 0
done
.TP
.B 1
the action failed or was refused, or a file or the database cannot be used
.TP
.B 2
wrong usage, or faults in a template, an environment, a parameter or the settings
.TP
.B 3
something has drifted
.TP
.B 4
cannot tell
.TP
.BR 130 ", " 143
interrupted by Ctrl\\-C, ended by SIGTERM;
.B zonda stack wait
goes on
.SH ENVIRONMENT
.TP
.B ZONDA_HOME
the folder of zonda's state
.TP
.BI ZONDA_PARAM_ NAME
the value of the parameter
.IR NAME ;
environments and
.B \\-P
are stronger
.TP
.BI ZONDA_ SETTING
a setting; these win over the settings file, and
.B \\-\\-set
wins over them
.TP
.B NO_COLOR
no colours
.SH FILES
.TP
.I ~/.local/share/zonda
the home, unless
.B ZONDA_HOME
or
.B XDG_DATA_HOME
say otherwise: the database
.IR zonda.db ,
its key
.IR zonda.key ,
the settings
.I zonda.toml
and
.I plugins/
.TP
.I zonda\\-environment.yaml
beside a template: an environment that is used without being named
.SH SEE ALSO
.B zonda help
.I COMMAND
shows what stands here of one command.
"""


@takes(
    epilog(
        "to read it:     zonda man | man -l -\n"
        "to install it:  zonda man > ~/.local/share/man/man1/zonda.1"
    )
)
def man(arguments: argparse.Namespace) -> None:
    """Print the page for man(1) and its like."""
    streams.ResultStream(sys.stdout).write(format_manual())


def format_manual() -> str:
    """Format the source of the page."""
    lines = [f'.TH ZONDA 1 "" "zonda {zonda.__version__}" "User Commands"', _TEXT.rstrip()]
    lines += [
        ".SH OPTIONS OF EVERY COMMAND",
        *_format_options(parsers.make_general_parser()._actions),
    ]
    lines.append(".SH COMMANDS")
    for name in commands.COMMANDS:
        lines += _format_command(name)
    return "\n".join([*lines, _ENDING])


def _format_command(name: str) -> Iterator[str]:
    parser = parsers.make_command_parser(name)
    everywhere = {
        flag for each in parsers.make_general_parser()._actions for flag in each.option_strings
    }
    own = [each for each in parser._actions if not everywhere & {*each.option_strings, "-h"}]
    arguments = [each for each in own if not each.option_strings]
    options = [each for each in own if each.option_strings and "-h" not in each.option_strings]
    words = " ".join(map(_format_argument, arguments))
    yield f".SS zonda {name} {words}{' [options]' if options else ''}".rstrip()
    yield _escape_roff(parser.description or "")
    yield from _format_options([*arguments, *options])
    for line in (parser.epilog or "").splitlines():
        yield from (".PP", _escape_roff(line.strip())) if line.strip() else ()


def _format_argument(argument: argparse.Action) -> str:
    name = _get_value_name(argument)
    shown = f"{name}..." if argument.nargs in ("*", "+") else name
    return _escape_roff(f"[{shown}]" if argument.nargs in ("?", "*") else shown)


def _get_value_name(action: argparse.Action) -> str:
    if action.choices is not None:
        return "|".join(map(str, action.choices))
    return str(action.metavar or action.dest.upper())


def _format_options(actions: Iterable[argparse.Action]) -> Iterator[str]:
    for action in actions:
        if action.help == argparse.SUPPRESS:
            continue
        flags = ", ".join(rf"\fB{_escape_roff(flag)}\fR" for flag in action.option_strings)
        value = "" if action.nargs == 0 else rf"\fI{_escape_roff(_get_value_name(action))}\fR"
        yield ".TP"
        yield " ".join(filter(None, (flags, value)))
        yield _escape_roff(" ".join(((action.help or "") % {"default": action.default}).split()))


def _escape_roff(text: str) -> str:
    """Escape a line of text for roff: nothing in it is a request."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"^([.'])", r"\\&\1", text)

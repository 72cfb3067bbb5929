"""``zonda plugin list``: installed plug-ins, what they provide, and failures."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from zonda.core.plugins.manager import Origin, Plugins
from zonda.core.template.source.versions import DATES
from zonda.hooks.errors import PluginError
from zonda.hooks.text.sanitize import join_sentences

from ..arguments import takes
from ..console import formats
from ..console.console import Screen
from ..session import Session

COLUMNS = ("Plugin", "Distribution", "Version", "Status", "Brings", "Failures")
#: Of a line where there is no terminal.
WIDTH = 100
_COLOURS = {"ok": "green", "partly": "yellow", "failed": "red", "disabled": "yellow"}


@takes(formats.add_arguments)
def list_plugins(session: Session, arguments: argparse.Namespace) -> int:
    """List what each plug-in provides; exit code 1 if any of them is not fully usable."""
    plugins, screen = session.local.plugins, session.screen
    found = list_entries(plugins)
    if arguments.format == "table" and not arguments.column:
        for line in _format_listing(screen, found):
            screen.show(line)
    else:
        rows = [_build_row(entry, arguments.format) for entry in found]
        session.show_rows(arguments, COLUMNS, rows)
    if arguments.format == "table":
        for failure in {str(each): each for each in plugins.failures}.values():
            hint = f"\n  {failure.hint}" if failure.hint else ""
            screen.say(f"{screen.colour_message('warning', 'yellow')}: {failure}{hint}")
    return 1 if plugins.failures else 0


def _format_listing(screen: Screen, found: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Format a line for each plug-in, followed by what it provides, by kind."""
    for entry in found:
        status = _choose_status(entry)
        origin = " ".join(filter(None, (entry["distribution"], entry["version"])))
        named = entry["plugin"] + (f" ({origin})" if origin else "")
        yield (
            f"{screen.colour_result(named, 'bold')}: "
            f"{screen.colour_result(status, _COLOURS[status])}"
        )
        for kind, names in sorted(entry["brings"].items()):
            text = f"{kind}: {', '.join(sorted(names))}"
            yield from textwrap.wrap(
                text,
                screen.width or WIDTH,
                initial_indent="  ",
                subsequent_indent="    ",
                break_long_words=False,
                break_on_hyphens=False,
            )


def list_entries(plugins: Plugins) -> list[dict[str, Any]]:
    """List every plug-in, also failed ones, with what it provides by kind."""
    for version in DATES:  # functions are asked for version by version
        plugins.functions(version)
    found: dict[str, dict[str, Any]] = {}
    for origin in plugins.manager.origins() if plugins.manager else ():
        found[origin.plugin] = _build_entry(origin)
    for origin in plugins.manager.disabled if plugins.manager else ():
        found[origin.plugin] = {**_build_entry(origin), "disabled": True}
    for failure in plugins.failures:
        _add_failure(found, failure)
    for (kind, name), origin in plugins.origins.items():
        kind = "function" if kind.startswith("function") else kind
        entry = found.setdefault(
            origin.plugin, _build_entry(origin)
        )  # a text in a folder is no plug-in
        names = entry["brings"].setdefault(kind, [])
        if name not in names:
            names.append(name)
    return list(found.values())


def _build_entry(origin: Origin) -> dict[str, Any]:
    named = (origin.plugin, origin.distribution, origin.version)
    return {
        **dict(zip(("plugin", "distribution", "version"), named, strict=True)),
        "brings": {},
        "failures": [],
    }


def _add_failure(found: dict[str, dict[str, Any]], failure: PluginError) -> None:
    version = failure.version
    origin = Origin(failure.plugin, failure.distribution, version)
    entry = found.setdefault(failure.plugin, _build_entry(origin))
    entry["failures"].append(join_sentences(str(failure), failure.hint))


def _choose_status(entry: Mapping[str, Any]) -> str:
    if entry["failures"]:
        return "partly" if entry["brings"] else "failed"
    return "disabled" if entry.get("disabled") else "ok"


def _build_row(entry: Mapping[str, Any], form: str) -> tuple[Any, ...]:
    brings, failures = entry["brings"], entry["failures"]
    if form in ("table", "value"):
        names = [f"{kind}: {', '.join(sorted(each))}" for kind, each in sorted(brings.items())]
        brings, failures = "; ".join(names), len(failures) or ""
    origin = (entry["plugin"], entry["distribution"], entry["version"])
    return *origin, _choose_status(entry), brings, failures

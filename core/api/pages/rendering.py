"""Pages as HTML: templates, escaping, and how values and times stand in them.

Every text is escaped for HTML, and its control characters are spelt out as on the command line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from zonda.core.reports.texts import plan
from zonda.core.reports.texts.times import format_duration, format_time
from zonda.core.reports.why import LocatedFailure
from zonda.hooks.errors import Place, TemplateError, ZondaError, show_path
from zonda.hooks.records import dataclass, field
from zonda.hooks.text.redaction import MASK
from zonda.hooks.text.sanitize import escape_control_chars, escape_surrogates

from ..http.calls import Answer, make_text
from .static_files import build_url

TEMPLATES = Path(__file__).parent / "templates"
#: The text in place of a hidden value.
HIDDEN = "******"
#: Characters of a value in a table.
LONGEST = 400
_TAB = "    "
#: The class of a planned resource by what happens to it.
_LOOKS = {
    "create": "add",
    "check": "add",
    "update": "change",
    "replace": "replace",
    "delete": "remove",
    "leave": "remove",
    "fail": "remove",
    "blocked": "remove",
    "keep": "unchanged",
}
#: The events of the whole project change a page.
EVERY_STACK = "*"


@dataclass(frozen=True, slots=True)
class Page:
    """A page that is still to be rendered: its template, and the values that this needs.

    ``live``: the stack whose events change it; ``after``: the newest event that it has.
    """

    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    live: str = ""
    after: int = 0


def redirect(target: str, headers: Mapping[str, str] | None = None) -> Answer:
    """An answer that leads a browser to another page, which it gets by GET."""
    shown = make_text(303, f"See {target}\n", "text/plain")
    return Answer(303, shown.body, {**(headers or {}), "Location": target}, "text/plain")


def render(page: Page, common: Mapping[str, Any], fragment: str = "") -> str:
    """The HTML of a page, or of blocks of its template.

    ``fragment``: their names, with commas; an unknown one gives the whole content.
    """
    template = make_environment().get_template(page.template)
    values = {**common, **page.values}
    if not fragment:
        return template.render(values)
    names = fragment.split(",")
    if not template.blocks.keys() >= {*names}:
        names = ["content"]
    context = template.new_context(values)
    return "".join(part for name in names for part in template.blocks[name](context))


@cache
def make_environment() -> Environment:
    """The environment of the templates; once in the life of the process."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "lines": escape_lines,
        "verbatim": escape_text,
        "value": format_value,
        "time": lambda seconds: format_time(seconds) or "",
        "duration": format_duration,
        "json": format_json,
        "path": show_path,
        "excerpt": format_excerpt,
        "fault": format_fault,
        "fault_line": format_fault_line,
        "plan_path": plan.format_path,
        "plan_counts": plan.list_counts,
        "plan_words": describe_planned,
        "nested_parameters": plan.list_nested_parameters,
        "drawing": Markup,  # of draw_svg, which escapes
        "unnamed": lambda event: ("", event),
        "part": lambda text: quote(str(text), safe=""),
    }
    made.globals["asset"] = build_url
    made.globals["plans"] = made.get_template("plan_macros.html").module
    made.globals["ui"] = made.get_template("macros.html").module
    return made


def finalize(value: Any) -> Any:
    """The text of an expression: control characters spelt out; nothing for None."""
    if isinstance(value, Markup):
        return value
    return "" if value is None else escape_line(str(value))


def escape_line(text: str) -> str:
    """A text with its control characters spelt out, line breaks too."""
    return escape_control_chars(text.replace("\t", _TAB))


def escape_lines(text: str) -> Markup:
    """A text of several lines, for a block of preformatted text."""
    return Markup("\n").join(escape(escape_line(line)) for line in str(text).split("\n"))


def escape_text(text: str) -> Markup:
    """A text that a form sends back as it was, but for what no page can hold."""
    return escape(escape_surrogates(str(text)).replace("\0", "\N{REPLACEMENT CHARACTER}"))


def format_value(value: Any, longest: int = LONGEST) -> str:
    """A value on one line; hidden ones and hidden parts of it as asterisks."""
    text = hide(value)
    if not isinstance(text, str):
        text = json.dumps(text, ensure_ascii=False, default=str)
    return shorten(text, longest)


def format_json(value: Any) -> str:
    """A value as JSON, so that texts differ from numbers; hidden ones as asterisks."""
    return shorten(json.dumps(hide(value), ensure_ascii=False, default=str), LONGEST)


def shorten(text: str, longest: int) -> str:
    """A text without its end, and how long it is, where it is too long for a table."""
    if longest and len(text) > longest:
        return f"{text[: longest - 12]}... ({len(text)} characters)"
    return text


def format_excerpt(spot: LocatedFailure) -> Markup:
    """The line of the template where a failure has its place."""
    return Markup() if spot.place is None else draw_line(spot.text, spot.place)


def draw_line(text: str, place: Place) -> Markup:
    """A line of a text with a mark below its place; nothing where it has no such line."""
    lines = text.split("\n")
    if not text or not 1 <= place.line <= len(lines):
        return Markup()
    line, number = lines[place.line - 1].rstrip("\r"), f"{place.line:>5} | "
    before = escape_line(line[: place.column - 1])
    line, caret = escape_line(line), f"{' ' * (len(number) + len(before))}^"
    return Markup("<pre>{}\n{}</pre>").format(number + line, caret)


def format_fault(fault: ZondaError) -> str:
    """A fault with its place and its code."""
    place = fault.place if isinstance(fault, TemplateError) else None
    return f"{place}: {fault}" if place else str(fault)


def format_fault_line(fault: ZondaError, inputs: Any) -> Markup:
    """The line of the form's texts that a fault is about, unless it holds a hidden value."""
    if not isinstance(fault, TemplateError) or fault.place is None or fault.hides_source:
        return Markup()
    bundle = inputs.bundle
    known = {
        **bundle.files,
        **dict(bundle.environment_files),
        bundle.template_file: bundle.template,
    }
    return draw_line(known.get(fault.place.file, ""), fault.place)


def describe_planned(resource: Mapping[str, Any]) -> dict[str, Any]:
    """The words of a planned resource, and the class of its line."""
    _, _, words = plan.describe_resource(resource)
    look = _LOOKS.get(resource["action"], "change" if resource["may_become"] else "unchanged")
    return {"words": words, "look": look, "has_instance": plan.has_instance(resource)}


def hide(value: Any) -> Any:
    """A value with asterisks in the place of hidden parts."""
    if isinstance(value, Mapping):
        return {key: hide(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [hide(part) for part in value]
    return HIDDEN if isinstance(value, str) and value == MASK else value

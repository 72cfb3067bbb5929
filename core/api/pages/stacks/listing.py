"""The list of the stacks of a project: a page of 50, searched and sorted in SQL."""

from __future__ import annotations

from typing import Any

from zonda.core.reports.drift import find_last_verdict
from zonda.core.store.read.pages import STACK_KEYS, StackQuery
from zonda.core.store.read.views import StackView
from zonda.hooks.records import dataclass

from ...http.calls import Answer, Call
from ..lookup import build_path
from ..rendering import EVERY_STACK, Page, redirect

#: Stacks on a page.
SIZE = 50
_DIRECTIONS = {"asc": False, "desc": True}


@dataclass(frozen=True, slots=True)
class Line:
    """One stack of the list. ``verdict``: of its last drift check."""

    stack: StackView
    user: str
    verdict: str


def open_start(call: Call) -> Answer:
    """The way to the list of the caller's own project."""
    return redirect(build_path(call, "stacks"))


def show_stacks(call: Call) -> Answer:
    """One page of the stacks."""
    reader, service = call.project.reader, call.project.service
    text, tag, marker = (call.get_first(key) or "" for key in ("search", "tag", "after"))
    sort = call.get_first("sort") or ""
    order = call.get_first("order") or ("asc" if sort == "stack_name" else "desc")
    query = StackQuery(
        call.project.id,
        text=text,
        tags=(tag,) if tag else (),
        none_of_tags=service.hidden_tags,
        sort_keys=(sort,) if sort in STACK_KEYS else (),
        descending=_DIRECTIONS.get(order, True),
        limit=SIZE + 1,
        marker=marker,
    )
    found = reader.list_stacks(query)
    lines = [
        Line(each.stack, each.user, find_last_verdict(reader, each.stack)[0])
        for each in found[:SIZE]
    ]
    values: dict[str, Any] = {
        "lines": lines,
        "search": text,
        "tag": tag,
        "sort": sort,
        "order": order,
        "after_stack": found[SIZE - 1].stack.id if len(found) > SIZE else "",
        "is_first": not marker,
        "now": service.app.clock.now(),
    }
    return Answer(200, Page("stacks.html", values, live=EVERY_STACK, after=reader.last_event()))

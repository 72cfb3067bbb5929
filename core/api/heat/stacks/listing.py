"""Lists of stacks: filters, pages, order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.core.store.read.pages import StackQuery

from ...http.calls import Answer, Call
from ...identity.callers import Forbidden
from ..values import get_all, get_bool, get_descending, get_int, get_words
from .documents import build_row


def list_stacks(call: Call) -> Answer:
    """One page of the stacks of the project."""
    if get_bool(call, "global_tenant"):
        raise Forbidden("You are not authorized to use stacks:global_index.")
    query = _build_query(call)
    reader = call.project.reader
    rows = reader.list_stacks(query)
    shown: dict[str, Any] = {"stacks": [build_row(call, row) for row in rows]}
    if query.limit and len(rows) == query.limit:
        again: Mapping[str, Any] = {**call.query, "marker": (rows[-1].stack.id,)}
        shown["links"] = [{"rel": "next", "href": call.build_url("stacks", query=again)}]
    if get_bool(call, "with_count"):
        shown["count"] = reader.count_stacks(query)
    return Answer(200, shown)


def _build_query(call: Call) -> StackQuery:
    hidden = () if get_bool(call, "show_hidden") else call.project.service.hidden_tags
    return StackQuery(
        project=call.project.id,
        ids=get_all(call, "id"),
        names=get_all(call, "name", "stack_name"),
        statuses=get_all(call, "status"),
        actions=get_all(call, "action"),
        users=get_all(call, "username", "stack_owner"),
        parents=get_all(call, "owner_id"),
        tags=get_words(call, "tags"),
        any_tags=get_words(call, "tags_any"),
        no_tags=get_words(call, "not_tags"),
        none_of_tags=(*get_words(call, "not_tags_any"), *hidden),
        with_deleted=get_bool(call, "show_deleted"),
        with_nested=get_bool(call, "show_nested"),
        sort_keys=get_all(call, "sort_keys"),
        descending=get_descending(call, default=True),
        limit=get_int(call, "limit"),
        marker=call.get_first("marker") or "",
    )

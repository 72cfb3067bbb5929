"""The route table of the pages: method, path, operation, handler, policy. The order counts."""

from __future__ import annotations

from ..http.calls import Answer, Call
from ..http.routes import Handler, Route, RouteTable
from . import static_files
from .access.sign_in import SignIn
from .changes import actions, drift, planning
from .stacks import listing, overview, resource

#: The pages of everybody, signed in or not.
OPEN = ("/ui/static/", "/ui/sign-in", "/ui/sign-out")
#: Pages that load templates or look at live resources, for which there are few threads.
HEAVY = frozenset(
    {
        "pages:plan",
        "stacks:preview_update",
        "drift:preview_repair",
        "pages:action",
    }
)

_P = "/ui/{project}"
_S = _P + "/stacks/{stack_id}"
_PLAN = _P + "/plans/{plan_id}"
_DRIFT = _S + "/drift"


def answer_file(call: Call) -> Answer:
    """A static file."""
    return static_files.answer_file(call.path["name"], call.get_first("v"))


ROWS: list[tuple[str, str, str, Handler, str]] = [
    ("GET", "/ui/static/{name}", "pages:static", answer_file, "anybody"),
    ("GET", "/ui/", "pages:start", listing.open_start, "anybody"),
    ("GET", "/ui", "pages:start", listing.open_start, "anybody"),
    ("GET", _P, "pages:project", listing.open_start, "read"),
    ("GET", f"{_P}/stacks", "stacks:index", listing.show_stacks, "read"),
    ("GET", _S, "stacks:show", overview.show_stack, "read"),
    ("GET", f"{_S}/events", "events:index", overview.show_events, "read"),
    ("GET", f"{_S}/history", "stacks:show", overview.show_history, "read"),
    ("GET", f"{_S}/why", "stacks:show", overview.show_reasons, "read"),
    ("GET", f"{_S}/resources/{{resource:.+}}", "resource:show", resource.show_resource, "read"),
    ("GET", f"{_P}/new", "stacks:create", planning.show_new, "write"),
    ("POST", f"{_P}/new", "pages:plan", planning.plan_new, "write"),
    ("GET", f"{_S}/update", "stacks:update", planning.show_update, "write"),
    ("POST", f"{_S}/update", "stacks:preview_update", planning.plan_update, "write"),
    ("GET", _PLAN, "pages:plan", planning.show_plan, "write"),
    ("GET", f"{_PLAN}/file", "pages:plan", planning.download_plan, "write"),
    ("POST", f"{_PLAN}/apply", "stacks:apply", planning.apply_plan, "write"),
    ("GET", f"{_S}/actions/{{verb}}", "pages:action", actions.show_action, "read"),
    ("POST", f"{_S}/actions/{{verb}}", "pages:action", actions.act, "read"),
    ("GET", _DRIFT, "drift:show", drift.show_drift, "read"),
    ("POST", f"{_DRIFT}/check", "drift:check", drift.check, "write"),
    ("GET", f"{_DRIFT}/repair", "drift:preview_repair", drift.show_repair, "write"),
    ("POST", f"{_DRIFT}/repair", "drift:repair", drift.repair, "write"),
    ("POST", f"{_DRIFT}/ignore", "drift:ignore", drift.ignore, "write"),
    ("POST", f"{_DRIFT}/unignore", "drift:ignore", drift.unignore, "write"),
]


def make_table(sign_in: SignIn, watch_events: Handler) -> RouteTable:
    """The table for one server. ``watch_events``: the stream of live events."""
    rows = [
        ("GET", f"{_P}/events", "events:watch", watch_events, "read"),
        ("GET", "/ui/sign-in", "pages:sign_in", sign_in.show, "anybody"),
        ("POST", "/ui/sign-in", "pages:sign_in", sign_in.begin, "anybody"),
        ("POST", "/ui/sign-out", "pages:sign_out", sign_in.end, "anybody"),
        *ROWS,
    ]
    return RouteTable(
        [
            Route(method, path, operation, handler, policy, operation in HEAVY)
            for method, path, operation, handler, policy in rows
        ]
    )

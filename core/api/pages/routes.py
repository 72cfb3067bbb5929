"""The route table of the pages: method, path, operation, handler, policy. The order counts."""

from __future__ import annotations

from ..http.calls import Answer, Call
from ..http.routes import Handler, Route, RouteTable
from . import static_files
from .access.sign_in import SignIn
from .stacks import listing, overview, resource

#: The pages of everybody, signed in or not.
OPEN = ("/ui/static/", "/ui/sign-in", "/ui/sign-out")
#: Pages that load templates or look at live resources, for which there are few threads.
HEAVY = frozenset[str]()

_P = "/ui/{project}"
_S = _P + "/stacks/{stack}"


def answer_file(call: Call) -> Answer:
    """A static file."""
    return static_files.answer_file(call.path["name"], call.get_first("v"))


ROWS: list[tuple[str, str, str, Handler, str]] = [
    ("GET", "/ui/static/{name}", "pages:static", answer_file, "anybody"),
    ("GET", "/ui/", "pages:start", listing.open_start, "anybody"),
    ("GET", "/ui", "pages:start", listing.open_start, "anybody"),
    ("GET", _P, "pages:start", listing.open_start, "read"),
    ("GET", f"{_P}/stacks", "stacks:index", listing.show_stacks, "read"),
    ("GET", _S, "stacks:show", overview.show_stack, "read"),
    ("GET", f"{_S}/events", "events:index", overview.show_events, "read"),
    ("GET", f"{_S}/history", "stacks:show", overview.show_history, "read"),
    ("GET", f"{_S}/resources/{{resource:.+}}", "resource:show", resource.show_resource, "read"),
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

"""The checks of every request: versions, tokens, projects, methods, bodies, errors."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.core.api.http.errors import BadRequest, Missing, answer_error
from zonda.core.api.http.requests import Request, parse_json
from zonda.core.api.identity.callers import Forbidden, IdentityUnavailable
from zonda.hooks.errors import (
    ActionInProgress,
    Conflict,
    NotFound,
    NotSupported,
    PluginError,
    StoreError,
    TemplateError,
    UsageError,
    ZondaError,
)

GENERIC = "The server could not comply with the request"


@pytest.mark.parametrize("path", ["/", "", "/v2", "/v2/p1/stacks", "/v10/p1"])
def test_any_other_path_gives_the_versions_without_a_token(api: Any, path: str) -> None:
    reply = api.become("").send("GET", path)
    assert reply.status == 300
    link = {"rel": "self", "href": "http://heat.example:8004/v1/"}
    assert reply.body == {"versions": [{"id": "v1.0", "status": "CURRENT", "links": [link]}]}


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/p1", "/v1/p1/", "/v1/p1/nope"])
def test_an_unknown_path_is_404_in_html(api: Any, path: str) -> None:
    reply = api.send("GET", path)
    assert (reply.status, reply.media_type) == (404, "text/html")


def test_without_a_good_token_there_is_401_in_a_form_of_its_own(api: Any) -> None:
    reply = api.become("").send("GET", "/v1/p1/stacks")
    assert reply.status == 401
    assert reply.body["error"]["code"] == 401
    assert reply.body["error"]["title"] == "Unauthorized"
    assert reply.headers["WWW-Authenticate"] == 'Keystone uri="http://keystone.example"'


def test_another_project_in_the_url_is_forbidden(api: Any) -> None:
    reply = api.send("GET", "/v1/p2/stacks")
    assert (reply.status, reply.kind) == (403, "HTTPForbidden")


def test_an_administrator_sees_the_own_project_whatever_the_url_names(api: Any) -> None:
    reply = api.become("p1/admin").send("GET", "/v1/p2/stacks")
    assert reply.status == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [("PUT", "/stacks"), ("HEAD", "/stacks"), ("DELETE", "/validate"), ("POST", "/build_info")],
)
def test_a_wrong_method_is_405(api: Any, method: str, path: str) -> None:
    reply = api(method, path)
    assert (reply.status, reply.kind) == (405, "HTTPMethodNotAllowed")
    assert reply.body["code"] == 405


def test_options_tell_the_methods(api: Any) -> None:
    reply = api("OPTIONS", "/stacks")
    assert reply.status == 204
    assert reply.headers["Allow"] == "GET,POST"


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        pytest.param(b'{"a":', "Expecting value", id="truncated"),
        pytest.param(b"[1]", GENERIC, id="array"),
        pytest.param(b"", GENERIC, id="nothing"),
        pytest.param(b"  ", GENERIC, id="blanks"),
        pytest.param(b'"text"', GENERIC, id="text"),
        pytest.param(b"\xff\xfe{}", "not UTF-8", id="encoding"),
        pytest.param(b"[" * 5000 + b"]" * 5000, "nested deeper", id="deep"),
        pytest.param(b'{"a": ' + b"9" * 5000 + b"}", "digits", id="digits"),
        pytest.param(b'{"stack_name": "\\ud800"}', "surrogate", id="surrogate"),
    ],
)
def test_a_body_that_is_no_object_is_a_bad_request(api: Any, raw: bytes, says: str) -> None:
    reply = api("POST", "/stacks", raw=raw)
    assert (reply.status, reply.kind) == (400, "HTTPBadRequest")
    assert says in reply.message


def test_a_compressed_body_is_a_bad_request() -> None:
    request = Request("POST", "/v1/p1/stacks", headers={"content-encoding": "gzip"}, body=b"\x1f")
    with pytest.raises(BadRequest, match="Content-Encoding"):
        parse_json(request)


def test_too_many_keys_of_a_query_are_a_bad_request(api: Any) -> None:
    reply = api("GET", "/stacks", **{f"k{number}": "v" for number in range(101)})
    assert reply.status == 400


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (TemplateError("x"), 400, "StackValidationFailed"),
        (TemplateError("x", heat_type="UserParameterMissing"), 400, "UserParameterMissing"),
        (UsageError("x"), 400, "HTTPBadRequest"),
        (BadRequest("x", "ValueError"), 400, "ValueError"),
        (NotSupported("x"), 400, "NotSupported"),
        (NotFound("Stack", "x"), 404, "EntityNotFound"),
        (NotFound("Resource", "x", stack="s"), 404, "ResourceNotFound"),
        (Missing("x"), 404, "NotFound"),
        (Conflict("x"), 409, "ActionInProgress"),
        (ActionInProgress("x"), 409, "ActionInProgress"),
        (Forbidden("x"), 403, "Forbidden"),
        (StoreError("x"), 503, "Error"),
        (IdentityUnavailable("x"), 503, "ServiceUnavailable"),
        (PluginError("x"), 500, "Error"),
        (ZondaError("x"), 500, "Error"),
    ],
)
def test_errors_have_the_status_and_the_type_of_heat(
    error: ZondaError, status: int, kind: str
) -> None:
    answer = answer_error(error)
    assert (answer.status, answer.body["code"]) == (status, status)
    assert answer.body["error"]["type"] == kind
    assert answer.body["error"]["traceback"] is None
    assert ("message" in answer.body["error"]) == (status != 500)
    assert ("Retry-After" in answer.headers) == (status == 503)


def test_what_nobody_expected_is_500_without_a_word(
    api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Any, query: Any) -> None:
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr("zonda.core.store.read.reader.Reader.list_stacks", fail)
    reply = api("GET", "/stacks")
    assert (reply.status, reply.kind) == (500, "ZeroDivisionError")
    assert "secret" not in str(reply.body)


@pytest.mark.parametrize(
    ("role", "method", "path", "status"),
    [
        ("reader", "GET", "/stacks", 200),
        ("reader", "POST", "/stacks", 403),
        ("reader", "POST", "/stacks/preview", 400),
        ("reader", "POST", "/validate", 403),
        ("member", "POST", "/validate", 400),
        ("member", "GET", "/services", 403),
        ("admin", "GET", "/services", 200),
        ("heat_stack_user", "GET", "/stacks", 403),
        ("heat_stack_user", "GET", "/stacks/nope", 404),
        ("heat_stack_user", "GET", "/software_deployments/metadata/s1", 200),
        ("nobody", "GET", "/stacks", 403),
    ],
)
def test_a_role_may_do_what_heat_lets_it(
    api: Any, role: str, method: str, path: str, status: int
) -> None:
    reply = api.become(f"p1/{role}")(method, path, {} if method == "POST" else None)
    assert reply.status == status
    if status == 403:
        assert reply.kind == "Forbidden"
        assert reply.message.startswith("You are not authorized to use ")

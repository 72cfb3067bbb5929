"""The OpenAPI documents as tests use them: operations by route, and answers held to them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml
from jsonschema import Draft202012Validator

from zonda.core.api.http.calls import Answer
from zonda.core.api.http.documents import read_documents
from zonda.core.api.http.requests import Request
from zonda.core.api.http.routes import Route
from zonda.core.api.server.dispatch import Target

#: The documents by the prefixes of their interfaces.
DOCUMENTS = {"/v1/": "heat.yaml", "/zonda/v1/": "zonda.yaml", "/v3/": "login.yaml"}
METHODS = ("get", "post", "put", "patch", "delete")
_PATTERN = re.compile(r"\{(\w+):([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}")
_ARN = "{stack_name:arn"


@dataclass(frozen=True, eq=False)
class Operation:
    """One operation of a document. ``parameters``: by where they stand and their names."""

    document: str
    path: str
    method: str
    content: Mapping[str, Any]
    parameters: Mapping[tuple[str, str], Mapping[str, Any]]

    @property
    def query(self) -> set[str]:
        """The keys of the query."""
        return {name for place, name in self.parameters if place == "query"}


@cache
def load(document: str) -> Any:
    """Load a document."""
    return yaml.safe_load(read_documents()[document])


def resolve(document: str, value: Any) -> Any:
    """The value that a reference leads to."""
    while isinstance(value, dict) and "$ref" in value:
        found = load(document)
        for part in value["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        value = found
    return value


@cache
def list_operations(document: str) -> dict[tuple[str, str], Operation]:
    """The operations of a document by method and path."""
    found = {}
    for path, item in load(document)["paths"].items():
        for method in METHODS:
            if method not in item:
                continue
            given = [*item.get("parameters", ()), *item[method].get("parameters", ())]
            parameters = [resolve(document, each) for each in given]
            by_name = {(each["in"], each["name"]): each for each in parameters}
            operation = Operation(document, path, method.upper(), item[method], by_name)
            found[method.upper(), path] = operation
    return found


def expand(route: Route) -> Iterator[str]:
    """The paths of a route as OpenAPI can say them: one for each alternative of a pattern.

    ARNs have slashes in them; no path of OpenAPI has.
    """
    if _ARN in route.path:
        return
    found = _PATTERN.search(route.path)
    if found is None:
        yield route.path
        return
    for word in found[2].split("|"):
        plain = f"{{{found[1]}}}" if re.search(r"[^\w-]", word) else word
        yield route.path[: found.start()] + plain + route.path[found.end() :]


@cache
def find_operation(document: str, route: Route, path: str) -> Operation | None:
    """The operation of a request; None where the document cannot say its path."""
    operations = list_operations(document)
    candidates = list(expand(route))
    for candidate in candidates:
        if len(candidates) == 1 or path.endswith(candidate.rpartition("/")[2]):
            return operations[route.method, candidate]
    return None


def check(target: Target | None, request: Request, answer: Answer, body: Any) -> None:
    """Raise an error for an answer of an API that its document does not have."""
    if target is None or target.match is None or target.match.route is None:
        return
    document = DOCUMENTS.get(target.interface.prefix)
    if document is None or answer.stream is not None:
        return
    operation = find_operation(document, target.match.route, request.path)
    if operation is not None:
        check_answer(operation, answer.status, answer.media_type, body)


def check_answer(operation: Operation, status: int, media_type: str, body: Any) -> None:
    """Raise an error for an answer that the document does not have."""
    where = f"{operation.method} {operation.path}: {status}"
    answers = operation.content["responses"]
    key = str(status) if str(status) in answers else "default"
    assert key in answers, f"{where} is not described"
    assert key != "default" or status >= 400, f"{where} is not described"
    answer = resolve(operation.document, answers[key])
    content = answer.get("content")
    if not content:
        assert body in ("", None), f"{where} has a body"
        return
    assert media_type in content, f"{where} is of {media_type}"
    validator = _make_validator(operation, key, media_type)
    error = next(iter(validator.iter_errors(body)), None)
    assert error is None, f"{where}: at {list(error.absolute_path)}: {error.message[:500]}"


@cache
def _make_validator(operation: Operation, status: str, media_type: str) -> Draft202012Validator:
    document = operation.document
    answer = resolve(document, operation.content["responses"][status])
    schema = answer["content"][media_type]["schema"]
    return Draft202012Validator({**schema, "components": load(document)["components"]})

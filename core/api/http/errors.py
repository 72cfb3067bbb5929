"""Errors as Heat's API answers them: the status by the class and ``heat_type``, Heat's sentence.

What only zonda knows (code, hint, place, all errors of a template) stands beside under ``zonda``.
"""

from __future__ import annotations

from typing import Any

from zonda.hooks.errors import (
    Conflict,
    NotFound,
    RequestError,
    ResourceFailure,
    StoreError,
    TemplateError,
    ValidationErrors,
    ZondaError,
    show_path,
)

from ..identity.callers import Forbidden, IdentityUnavailable
from ..live.hub import TooManyStreams
from ..service.rates import OverRate
from .calls import Answer

#: Titles and explanations by status, as Heat's clients show them.
STATUSES = {
    400: (
        "Bad Request",
        "The server could not comply with the request since it is either malformed or otherwise "
        "incorrect.",
    ),
    403: ("Forbidden", "Access was denied to this resource."),
    404: ("Not Found", "The resource could not be found."),
    405: ("Method Not Allowed", "The method specified is not allowed for this resource."),
    408: ("Request Timeout", "The server has waited too long for the request."),
    409: ("Conflict", "There was a conflict when trying to complete your request."),
    413: ("Request Entity Too Large", "The body of your request was too large for this server."),
    429: ("Too Many Requests", "Too many requests were sent in a given amount of time."),
    431: ("Request Header Fields Too Large", "The headers of your request were too large."),
    500: (
        "Internal Server Error",
        "The server has either erred or is incapable of performing the requested operation.",
    ),
    503: (
        "Service Unavailable",
        "The server is currently unavailable. Please try again at a later time.",
    ),
}


class BadRequest(RequestError):
    """Something in the request cannot be used. ``kind``: what Heat calls the error."""

    def __init__(self, message: str, kind: str = "HTTPBadRequest") -> None:
        super().__init__(message)
        self.heat_type = kind


class Missing(RequestError):
    """Something is not there, and Heat has a sentence of its own for that."""

    def __init__(self, message: str, kind: str = "NotFound") -> None:
        super().__init__(message)
        self.heat_type = kind


def find_status(error: ZondaError) -> int:
    """The status of an error."""
    if isinstance(error, Forbidden):
        return 403
    if isinstance(error, (NotFound, Missing)):
        return 404
    if isinstance(error, Conflict):
        return 409
    if isinstance(error, (StoreError, IdentityUnavailable)):
        return 503
    if isinstance(error, (TooManyStreams, OverRate)):
        return 429
    if isinstance(error, (TemplateError, RequestError, ResourceFailure)):
        return 400
    return 500


def format_message(error: ZondaError) -> str:
    """The sentence of an error, as it reaches Heat's clients."""
    first = error.errors[0] if isinstance(error, ValidationErrors) else error
    if isinstance(first, TemplateError) and first.label:
        path = show_path(first.path)
        return ": : ".join(part for part in (first.label, path, first.message) if part)
    return str(first)


def answer_error(error: ZondaError) -> Answer:
    """The answer for an error that the caller, or the operator, can do something about."""
    status = find_status(error)
    if status == 500:
        return answer_failure(500, error.heat_type)
    ours: dict[str, Any] = {"code": error.code}
    if error.hint:
        ours["hint"] = error.hint
    if isinstance(error, TemplateError):
        known = error.errors if isinstance(error, ValidationErrors) else (error,)
        ours["errors"] = [_format_fault(each) for each in known]
    body = build_body(status, error.heat_type, format_message(error))
    delay = str(getattr(error, "delay", 1))
    headers = {"Retry-After": delay} if status in (429, 503) else {}
    return Answer(status, {**body, "zonda": ours}, headers)


def answer_failure(status: int, kind: str, message: str | None = None) -> Answer:
    """The answer of a status, without more than that."""
    return Answer(status, build_body(status, kind, message))


def build_body(status: int, kind: str, message: str | None) -> dict[str, Any]:
    """The body of an error."""
    title, explanation = STATUSES[status]
    error: dict[str, Any] = {"type": kind, "traceback": None}
    if message is not None:
        error["message"] = message
    return {"code": status, "title": title, "explanation": explanation, "error": error}


def answer_unauthorized(challenge: str) -> Answer:
    """The answer without a good token, which has another form than all others."""
    headers = {"WWW-Authenticate": challenge} if challenge else {}
    message = "The request you have made requires authentication."
    body = {"error": {"code": 401, "title": "Unauthorized", "message": message}}
    return Answer(401, body, headers)


def _format_fault(fault: TemplateError) -> dict[str, Any]:
    shown: dict[str, Any] = {"code": fault.code, "message": str(fault)}
    if fault.hint:
        shown["hint"] = fault.hint
    if fault.at:
        shown["at"] = list(fault.at)
    if fault.place is not None:
        shown["place"] = str(fault.place)
    return shown


__all__ = [
    "BadRequest",
    "Missing",
    "answer_error",
    "answer_failure",
    "answer_unauthorized",
    "build_body",
    "find_status",
]

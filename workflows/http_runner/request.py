"""The headers of the ``http`` runner's requests.

The body is ``zonda.hooks.runners.http_contract``'s.

Called by the runner; knows nothing of sockets and answers.
"""

from __future__ import annotations

from collections.abc import Mapping

from zonda.hooks.runners import StartRequest, http_contract

from ..client import message_signature, webhook_signature
from .actions import DEFAULT_ACTION, Action
from .settings import HttpSettings

_ALWAYS = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "User-Agent": "zonda",
}


def encode_inputs(request: StartRequest) -> bytes:
    """The inputs as they are, for an API that does not know the contract. Raises ValueError."""
    return http_contract.encoded(dict(request.inputs))


def build_start_headers(
    settings: HttpSettings,
    request: StartRequest,
    url: str,
    content: bytes | None,
    action: Action = DEFAULT_ACTION,
) -> dict[str, str]:
    """The headers of a start; only ``Zonda-Attempt`` and the signature differ between sends."""
    known = {
        **settings.credentials(url),
        **_ALWAYS,
        "Idempotency-Key": request.key,
    }
    if content is not None:
        known["Content-Type"] = "application/json"
    if not action.plain:
        known |= {
            "Zonda-Contract": str(http_contract.CONTRACT),
            "Prefer": f"respond-async, wait={_compute_wait(settings):g}",
            "Zonda-Attempt": str(request.attempt),
        }
    return _add_signatures(settings, request.key, action.method, url, known, content)


def _compute_wait(settings: HttpSettings) -> float:
    """The time that the endpoint is asked to answer in: less than the runner waits."""
    longest = settings.answer_timeout * 0.8
    return min(settings.wait, float(int(longest)) if longest >= 1 else 0.0)


def build_follow_up_headers(
    settings: HttpSettings,
    key: str,
    url: str,
    method: str = "GET",
) -> dict[str, str]:
    """The headers of a poll and of a request to cancel."""
    known = {
        **settings.credentials(url),
        **_ALWAYS,
        "Zonda-Contract": str(http_contract.CONTRACT),
    }
    return _add_signatures(settings, key, method, url, known, None)


def _add_signatures(
    settings: HttpSettings,
    key: str,
    method: str,
    url: str,
    known: Mapping[str, str],
    content: bytes | None,
) -> dict[str, str]:
    if not settings.knows(url):
        return dict(known)  # a signature for a stranger could be shown to whom it was not meant for
    now = settings.clock.now()
    return {
        **known,
        **webhook_signature.build_headers(settings.signing_keys, key, now, content or b""),
        **message_signature.build_headers(settings.message_keys, method, url, known, now, content),
    }

"""The resources that tokens of signal URLs stand for."""

from __future__ import annotations

from zonda.core.store.values.signal_tokens import METADATA, looks_like_token, read_token
from zonda.hooks.records import dataclass

from .service import Service


@dataclass(frozen=True, slots=True)
class SignalTarget:
    """A resource of a live stack, and what its token is for."""

    purpose: str
    resource_id: str
    name: str
    stack_id: str
    project: str

    @property
    def takes_signals(self) -> bool:
        """Whether the token is for signals."""
        return self.purpose != METADATA


def find_signal_target(service: Service, text: str) -> SignalTarget | None:
    """The resource of a token; None for a forged or expired one, or one of what is deleted."""
    app = service.app
    token = read_token(app.store.sealer.signal_keys, text)
    if token is None or (token.expires is not None and token.expires <= app.clock.now()):
        return None
    row = service.reader.resource_row(token.resource_id)
    if row is None or not (row.op or (row.want == "PRESENT" and row.action != "INIT")):
        return None
    stack = service.reader.stack_row(row.stack_id)
    if stack.deleted_at is not None:
        return None
    return SignalTarget(token.purpose, row.id, row.name, row.stack_id, stack.project)


def find_target_of_header(service: Service, text: str) -> SignalTarget | None:
    """The resource of a token that stands where Heat's clients send one of Keystone."""
    return find_signal_target(service, text) if looks_like_token(text) else None

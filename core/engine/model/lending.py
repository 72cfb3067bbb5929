"""The services that the engine gives to plug-ins, as types. The application implements them."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from zonda.core.store.values.sealing import Sealer
from zonda.hooks.context import Clock
from zonda.hooks.runners.base import WorkflowRunner

from .unit_of_work import UnitOfWork

#: What a plug-in stores, to be run in a transaction.
Write = Callable[[UnitOfWork], None]


#: A signal that is handed on: to which reference, with which details.
Onward = tuple[str, Mapping[str, Any], str]


class Lender(Protocol):
    """The services of the application: runners, clients, patterns, constraints."""

    @property
    def setup(self) -> str:
        """A text that changes with the settings on which the services depend. May hold secrets."""

    def runner(self, workflow: str) -> tuple[WorkflowRunner, str]:
        """The runner for a workflow, and the name it knows it by."""

    def client(self, name: str) -> Any:
        """A client object."""

    def client_plugin(self, name: str) -> Any:
        """A client plug-in."""

    def full_match(self, pattern: str, text: str) -> bool:
        """Whether ``pattern`` matches all of ``text``, in bounded time."""

    def constraint(self, name: str) -> Any:
        """A custom constraint, or None."""

    def secret(self, reference: str) -> str:
        """The secret behind ``env:NAME`` or ``file:PATH``; raises UsageError."""

    def check_secret(self, reference: str) -> None:
        """Raise UsageError unless the secret may be named."""


@dataclass(frozen=True, slots=True)
class LentOperation:
    """The running operation, as a plug-in sees it."""

    id: str
    action: str
    started_at: float
    deadline: float
    attempt: int


@dataclass(frozen=True, slots=True)
class Lending:
    """The services that every context of an engine shares."""

    lender: Lender
    clock: Clock
    random: random.Random
    sealer: Sealer
    durable: Callable[[Callable[[UnitOfWork], Any]], Any]
    progress: Callable[[str, str, str, float | None], None]
    #: The requests of other commands that are carried out, by the stack at the top.
    requests: dict[str, str] = field(default_factory=dict)

"""Actions on whole stacks, without a template."""

from __future__ import annotations

from zonda.hooks.records import dataclass

from .base import Action


@dataclass(frozen=True, slots=True)
class DeleteStack(Action):
    """Delete every resource, then the stack. Supersedes the running action.

    ``nested``: the stack may be nested in another one, whose owner stays until that changes it.
    """

    ends_another = True

    stack: str
    nested: bool = False


@dataclass(frozen=True, slots=True)
class SuspendStack(Action):
    """Suspend every resource, dependants first."""

    stack: str


@dataclass(frozen=True, slots=True)
class ResumeStack(Action):
    """Resume every resource, requirements first."""

    stack: str


@dataclass(frozen=True, slots=True)
class CheckStack(Action):
    """Check that every resource is in its expected state. Changes nothing."""

    stack: str


@dataclass(frozen=True, slots=True)
class CancelStack(Action):
    """Start no further operation; ``rollback``: go back to the last good template."""

    touches_all, ends_another = False, True

    stack: str
    rollback: bool = False


@dataclass(frozen=True, slots=True)
class RollbackStack(Action):
    """Go back to the last good template, or to the one of generation ``to``.

    ``skip``: resources that are left as they are.
    """

    stack: str
    to: int | None = None
    skip: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RetryStack(Action):
    """Carry out the failed action once more, with the same inputs."""

    stack: str

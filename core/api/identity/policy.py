"""The policy: the rule of each operation, and the policies of plug-ins, which may refuse as well.

The rule of an operation stands in ``[policy]`` of the settings, else it is the one that its route
names: Heat's. ``service`` has the one ``PolicyTable``; the dispatcher asks it about each request.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from typing import Any

from zonda.core.plugins.manager import POLICY, Plugins
from zonda.core.settings.rules import Facts, Rule, parse_rule
from zonda.core.settings.server_sections import RESOURCE_TYPES, find_entry_line
from zonda.core.settings.table import FILE_NAME, Settings
from zonda.hooks.errors import UsageError, UsageErrors
from zonda.hooks.policies import Policy, PolicyCaller, PolicyTarget
from zonda.hooks.text.borders import raise_interruption
from zonda.hooks.text.suggestions import format_suggestion

from .callers import Caller, Forbidden

log = logging.getLogger(__name__)

#: The rules that routes name.
RULES = {
    "read": "role:reader or role:member or role:admin",
    "write": "role:member or role:admin",
    "reveal": "role:member or role:admin",  # to see hidden values
    "declare": "role:member or role:admin",  # to bring types of one's own
    "agent": "role:reader or role:member or role:admin or role:heat_stack_user",
    "admin": "role:admin",
    "nobody": "never",
    "anybody": "always",
    "signal": "role:signal or role:scale or role:admin",
    "metadata": "role:metadata or role:admin",
}
_PARSED = {name: parse_rule(text) for name, text in RULES.items()}


class PolicyTable:
    """Decides about requests. Many threads ask at once.

    ``section``: ``[policy]`` of the settings. ``policies``: those of plug-ins, by name.
    """

    def __init__(self, section: Mapping[str, Any], policies: Mapping[str, Policy]) -> None:
        self._rules = {
            operation: parse_rule(rule)
            for operation, rule in section.items()
            if operation != RESOURCE_TYPES
        }
        types = section.get(RESOURCE_TYPES, {})
        self._types = {pattern: parse_rule(rule) for pattern, rule in types.items()}
        self._policies = dict(policies)
        #: Whether a decision needs neither the database nor a plug-in.
        self.is_quick = not policies and "owner" not in " ".join(
            rule for rule in section.values() if isinstance(rule, str)
        )

    @property
    def has_type_rules(self) -> bool:
        """Whether anybody decides about types of resources."""
        return bool(self._types or self._policies)

    def check(self, caller: Caller, rule: str, operation: str, target: PolicyTarget) -> None:
        """Raise Forbidden unless the caller may use an operation; ``rule``: one of ``RULES``."""
        self._check(caller, self._rules.get(operation) or _PARSED[rule], operation, target)

    def check_type(self, caller: Caller, name: str, project: str) -> None:
        """Raise Forbidden unless the caller may use a type of resources."""
        target = PolicyTarget(project, resource_type=name)
        for pattern, rule in self._types.items():
            if fnmatchcase(name, pattern):
                self._check_rule(caller, rule, f"resource_types:{name}", target)
        self._ask_plugins(caller, f"resource_types:{name}", target)

    def _check(self, caller: Caller, rule: Rule, operation: str, target: PolicyTarget) -> None:
        self._check_rule(caller, rule, operation, target)
        if self._policies:
            self._ask_plugins(caller, operation, target)

    def _check_rule(self, caller: Caller, rule: Rule, operation: str, target: PolicyTarget) -> None:
        def is_owner() -> bool:
            # a stack that is not there is refused as one, not as forbidden
            return target.stack is None or target.stack.created_by == caller.user

        if not rule(Facts(caller.roles, (caller.project_id, caller.project), is_owner)):
            raise Forbidden(f"You are not authorized to use {operation}.")

    def _ask_plugins(self, caller: Caller, operation: str, target: PolicyTarget) -> None:
        if not self._policies:
            return
        asking = PolicyCaller(
            caller.user_id, caller.user, caller.project_id, caller.project, caller.roles
        )
        for name, policy in self._policies.items():
            try:
                reason = policy.check(asking, operation, target)
            except BaseException as error:  # the border: a plug-in that fails refuses
                raise_interruption(error)
                log.error("The policy %s failed: %s", name, type(error).__name__)
                reason = f"the policy {name} failed"
            if reason is not None:
                raise Forbidden(f"You are not authorized to use {operation}: {reason}")


def make_policy_table(settings: Settings, plugins: Plugins) -> PolicyTable:
    """The table of the settings and the plug-ins.

    Raises UsageError for a policy that cannot be asked: what it would refuse would be let through.
    """
    for (kind, name), error in plugins.unusable.items():
        if kind == POLICY:
            raise UsageError(
                f"The policy {name} cannot be used, and would let everything through: {error}",
                hint="Mend the plug-in, or name it in the setting disabled_plugins.",
            )
    return PolicyTable(settings.policy, plugins.policies)


def check_operations(settings: Settings, known: Collection[str]) -> None:
    """Raise UsageErrors for rules of operations that no interface has."""
    path = settings.home / FILE_NAME
    unknown = [name for name in settings.policy if name not in known and name != RESOURCE_TYPES]
    if not unknown:
        return
    text = path.read_text()
    raise UsageErrors(
        [
            UsageError(
                f"{path}:{find_entry_line(text, ('policy',), name)}: [policy]: "
                f"{name} is no operation{format_suggestion(name, known)}",
                code="ZON207",
            )
            for name in unknown
        ]
    )

"""Groups whose members have names of their own, and that may be made and updated in batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from zonda.hooks import Child, ChildTemplate, SupportStatus, properties

from .base import Group
from .member_template import Entry
from .rolling_update import UpdatePolicy, compute_next_batch, make_policy_schema, read_update_policy

ROLLING_UPDATE: Final = "rolling_update"
BATCH_CREATE: Final = "batch_create"

_Schema = properties.Schema


def make_policies_schema(*, with_service: bool) -> dict[str, properties.Schema]:
    """The update policy of such a group."""
    return {
        ROLLING_UPDATE: _Schema(
            _Schema.MAP,
            "How members are given a new definition; all at once without it.",
            schema=make_policy_schema(with_service=with_service, what="replace"),
            support_status=SupportStatus(version="5.0.0"),
        ),
        BATCH_CREATE: _Schema(
            _Schema.MAP,
            "How members are made when the group is; all at once without it.",
            schema=make_policy_schema(with_service=False, what="create"),
            support_status=SupportStatus(version="5.0.0"),
        ),
    }


class BatchedGroup(Group):
    """Members whose names are known: the first so many of ``names`` are there."""

    checks_member_types = True
    update_policy_schema: ClassVar[Mapping[str, properties.Schema]] = make_policies_schema(
        with_service=True
    )

    def size(self) -> int:
        """The number of members that there shall be."""
        raise NotImplementedError

    def names(self, size: int) -> Sequence[str]:
        """The names of the first ``size`` members; fewer, where there are no more."""
        raise NotImplementedError

    def list_member_names(self) -> Sequence[str]:
        """As many names as there shall be members."""
        size = self.size()
        self.check_size(size)
        return self.names(size)

    def validate(self) -> None:
        """Check the number of members and the length of pauses."""
        self.check_size(self.size())
        for pace in (
            self._get_update_policy(BATCH_CREATE),
            self._get_update_policy(ROLLING_UPDATE),
        ):
            if pace is not None:
                pace.check()

    def template_for_validation(self) -> ChildTemplate | None:
        """A template with one member, which stands for all; None without any."""
        names = self.list_member_names()[:1]
        if not names:
            return None
        return ChildTemplate(self.build_template({name: self.entry(name) for name in names}))

    def next_template(self, child: Child | None, applied: int) -> ChildTemplate | None:
        """The template with all members, or with the next batch of them."""
        pace = self._find_current_policy(child)
        if pace is None:
            return None if applied else ChildTemplate(self.child_template())
        return self._build_batch(pace, child, applied)

    def _get_update_policy(self, policy: str) -> UpdatePolicy | None:
        given = properties.Properties(self.update_policy_schema, self.t.update_policy)
        return read_update_policy(given[policy]) if policy in self.t.update_policy else None

    def _find_current_policy(self, child: Child | None) -> UpdatePolicy | None:
        operation = self.context.operation
        if operation is not None and operation.action == "ADOPT":
            return None  # they are there
        if child is None or (operation is not None and operation.action == "CREATE"):
            return self._get_update_policy(BATCH_CREATE)
        pace = self._get_update_policy(ROLLING_UPDATE)
        return pace if pace is not None and self._needs_batches(child) else None

    def _needs_batches(self, child: Child) -> bool:
        """Whether members need a new definition, or exist only meanwhile."""
        wanted = set(self.list_member_names())
        operation = self.context.operation
        begun = operation is not None and len(child.members()) > len(wanted)
        return begun or any(
            member.definition != self.entry(member.name)
            for member in child.members()
            if member.name in wanted
        )

    def _build_batch(
        self, pace: UpdatePolicy, child: Child | None, applied: int
    ) -> ChildTemplate | None:
        wanted = {name: self.entry(name) for name in self.list_member_names()}
        members = () if child is None else child.members()
        # as in Heat, what has failed does not keep what it has failed with
        now = {each.name: each.definition for each in members if applied or each.is_current}
        possible = set(self.names(len(members) + len(wanted)))
        staying = [each.name for each in members if each.name in possible]
        current = sum(now[name] == entry for name, entry in wanted.items() if name in now)
        if applied and now == wanted:
            return None
        if not applied:
            pace.check_time(len(wanted), len(staying), current, self.context.stack_timeout)
        size, budget = compute_next_batch(pace, len(wanted), len(staying), current)
        entries = self._build_batch_members(wanted, now, size, budget)
        if applied and entries == now:
            return None
        pause = pace.pause if applied else 0.0
        return ChildTemplate(self.build_template(entries), pause=pause)

    def _build_batch_members(
        self,
        wanted: Mapping[str, Entry],
        now: Mapping[str, Mapping[str, Any]],
        size: int,
        budget: int,
    ) -> dict[str, Mapping[str, Any]]:
        """The members after a batch: what is missing is made, then the last ones are changed."""
        names = self.names(size)
        budget -= sum(name not in now for name in names)
        outdated = [name for name in wanted if name in now and now[name] != wanted[name]]
        chosen = set(outdated[::-1][: max(budget, 0)])
        return {
            name: now[name] if name in now and name not in chosen else self.entry(name)
            for name in names
        }

"""The base class of groups that a scaling policy makes larger and smaller.

The size is kept with the resource: what a signal or an update has settled. Names of members are
worked out from the resource's id and a count, so that whoever asks again gets the same ones.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from zonda.hooks import (
    CONVERGE,
    Child,
    ChildTemplate,
    Converge,
    InvalidTemplateAttribute,
    Member,
    NoActionRequired,
    NotSupported,
    member_not_found,
    select,
)

from ..groups.base import Group
from ..groups.member_template import Entry
from ..groups.rolling_update import UpdatePolicy, compute_next_batch
from .capacity import Bounds, compute_size, find_first_unused, list_free_names

SIGNAL: Final = "SIGNAL"
FAILED: Final = "FAILED"

#: The member that stands for all while a template is checked.
CHECKED: Final = "member"
#: The keys of the data: the size, the operation that has settled it, the count of names that were
#: used, until when no signal counts, and how long the running one asks for that.
_SIZE: Final = "size"
_SIZE_BY: Final = "size_by"
_NAMES_USED: Final = "names_used"
_COOLS_UNTIL: Final = "cools_until"
_COOLDOWN: Final = "cooldown"

#: The keys of the details that a policy signals.
KIND: Final = "adjustment_type"
ADJUSTMENT: Final = "scaling_adjustment"
STEP: Final = "min_adjustment_step"
COOLDOWN: Final = "cooldown"


class ScaledGroup(Group):
    """A group of equal members with random names; the oldest are removed first."""

    def bounds(self) -> Bounds:
        """The smallest and the largest size."""
        raise NotImplementedError

    def first_size(self) -> int:
        """The size when the group is made."""
        raise NotImplementedError

    def size_after_update(self, size: int) -> float:
        """The size after an update of a group that had ``size`` members."""
        raise NotImplementedError

    def member(self) -> Entry:
        """The definition of a member."""
        raise NotImplementedError

    def get_update_policy(self) -> UpdatePolicy | None:
        """The policy for changes of members; None: existing members keep their definition."""
        raise NotImplementedError

    def cooldown(self) -> float:
        """The seconds after a change in which no signal counts."""
        return 0.0

    def entry(self, name: str) -> Entry:
        """The definition of a member, whatever its name."""
        return self.member()

    def get_reference_id(self) -> str:
        """The physical name, as soon as there is a nested stack."""
        return self.name if self.resource_id is None else self.physical_resource_name()

    # -- the nested stack ---------------------------------------------------------------------

    def list_member_names(self) -> Sequence[str]:
        """Those that stay, and new ones."""
        staying = self._list_staying(
            self._sort_members(self.child), self._get_allowed_size(self.child)
        )
        return self._fill_up_names(
            [member.name for member in staying], self._get_allowed_size(self.child)
        )

    def child_template(self) -> Mapping[str, Any]:
        """The template with all members, as after the last batch."""
        known = self._list_kept(self._sort_members(self.child))
        if self.get_update_policy() is not None:
            known = {}
        entry = self.member()
        return self.build_template(
            {name: known.get(name, entry) for name in self.list_member_names()}
        )

    def template_for_validation(self) -> ChildTemplate | None:
        """A template with one member, which stands for all."""
        names = [CHECKED] if self.list_member_names() else []
        return ChildTemplate(self.build_template({name: self.member() for name in names}))

    def next_template(self, child: Child | None, applied: int) -> ChildTemplate | None:
        """The next batch, or all at once; once it is done, the cooldown begins."""
        size, members, new = self._get_allowed_size(child), self._sort_members(child), self.member()
        pace = None if self._action in (SIGNAL, "CREATE", "ADOPT") else self.get_update_policy()
        outdated = pace is not None and any(each.definition != new for each in members)
        if applied and not outdated and (pace is None or len(members) == size):
            self._start_cooldown(members)
            return None
        extra = (
            self._find_extra_names(members, size) if applied and pace is not None else frozenset()
        )
        if pace is None or not outdated:
            members.sort(key=lambda each: (each.status != FAILED, each.name not in extra))
            return ChildTemplate(self._build_resized_template(members, size, new))
        members.sort(key=lambda each: (each.status != FAILED, each.definition == new))
        batch = self._build_batch_template(pace, members, extra, size, applied)
        return ChildTemplate(batch, pause=pace.pause if applied else 0.0)

    @property
    def _action(self) -> str:
        operation = self.context.operation
        return "" if operation is None else operation.action

    @staticmethod
    def _sort_members(child: Child | None) -> list[Member]:
        """The members in the order of their removal: failed ones first, then by age."""
        members = [] if child is None else list(child.members())
        return sorted(members, key=lambda member: member.status != FAILED)

    def _find_extra_names(self, members: Sequence[Member], size: int) -> frozenset[str]:
        """The names of members that exist only while others change: the youngest."""
        operation, surplus = self.context.operation, max(len(members) - size, 0)
        begun = 0.0 if operation is None else operation.started_at
        young = [member.name for member in members if member.created_at >= begun]
        return frozenset(young[len(young) - min(surplus, len(young)) :])

    @staticmethod
    def _list_staying(members: Sequence[Member], size: int) -> list[Member]:
        return list(members[max(len(members) - size, 0) :])

    @staticmethod
    def _list_kept(members: Sequence[Member]) -> dict[str, Mapping[str, Any]]:
        """The definitions of members; what has failed does not keep what it has failed with."""
        return {each.name: each.definition for each in members if each.is_current}

    def _build_resized_template(
        self, members: Sequence[Member], size: int, new: Entry
    ) -> Mapping[str, Any]:
        """The template for another size; members that stay keep their definition."""
        staying = self._list_staying(members, size)
        entries = self._list_kept(staying)
        names = self._fill_up_names([each.name for each in staying], size)
        return self.build_template({name: entries.get(name, new) for name in names})

    def _build_batch_template(
        self,
        pace: UpdatePolicy,
        members: Sequence[Member],
        extra: frozenset[str],
        size: int,
        applied: int,
    ) -> Mapping[str, Any]:
        new = self.member()
        current = sum(each.definition == new and each.name not in extra for each in members)
        current = min(current, size)
        if not applied:
            pace.check_time(size, len(members), current, self.context.stack_timeout)
        total, budget = compute_next_batch(pace, size, len(members), current)
        staying = self._list_staying(members, total)
        kept = self._list_kept(staying)
        budget -= total - len(kept)
        outdated = [name for name, entry in kept.items() if entry != new]
        chosen = set(outdated[: max(budget, 0)])
        entries = {name: entry for name, entry in kept.items() if name not in chosen}
        names = self._fill_up_names([each.name for each in staying], total)
        return self.build_template({name: entries.get(name, new) for name in names})

    # -- names --------------------------------------------------------------------------------

    @property
    def _names_used(self) -> int:
        return int(self.data().get(_NAMES_USED, 0))

    def _fill_up_names(self, names: list[str], size: int) -> list[str]:
        """``names`` and as many new ones as make ``size``, in the order of their age."""
        child, staying = self.child, set(names)
        known = [] if child is None else [member.name for member in child.members()]
        aged = [name for name in known if name in staying]
        there = [name for name in self.adopted if name not in known]
        fresh = chain(there, list_free_names(self.uuid, self._names_used, known))
        return [*aged, *(next(fresh) for _ in range(size - len(aged)))]

    # -- the size -----------------------------------------------------------------------------

    @staticmethod
    def capacity(child: Child | None) -> int:
        """The number of members, without those that failed."""
        members = () if child is None else child.members()
        return sum(member.status != FAILED for member in members)

    def _get_allowed_size(self, child: Child | None) -> int:
        """The size that the group shall have; raises TooManyResources where it is too large."""
        size = self._compute_size(child)
        self.check_size(size)
        return size

    def _compute_size(self, child: Child | None) -> int:
        """The size that the group shall have, without a limit; settled once per operation."""
        operation, kept = self.context.operation, self.data().get(_SIZE)
        settled = operation is not None and self.data().get(_SIZE_BY) == operation.id
        if kept is not None and (settled or self._action == SIGNAL):
            return int(kept)
        if child is None or self._action in ("CREATE", "ADOPT"):
            there = len(self.adopted)
            return int(self.bounds().clamp(there)) if there else self.first_size()
        size = int(self.bounds().clamp(self.size_after_update(self.capacity(child))))
        if operation is not None and self._action == "UPDATE":
            self.data_set(_SIZE, size)
            self.data_set(_SIZE_BY, operation.id)
        return size

    # -- signals ------------------------------------------------------------------------------

    def handle_signal(self, details: Mapping[str, Any] | None = None) -> Converge:
        """Change the size as a policy asks; raises NoActionRequired where nothing changes."""
        if not details or KIND not in details:
            raise NotSupported(
                f"Cannot signal resource {self.name}: 'SIGNAL' not supported for {self.type()}.",
                hint="Signal one of its scaling policies.",
            )
        child, size = self.child, self.capacity(self.child)
        if child is None or self.status == FAILED or "IN_PROGRESS" in (self.status, child.status):
            raise NoActionRequired(self.name, "the group is not complete")
        wanted = self._compute_signalled_size(details, size)
        seconds = details.get(COOLDOWN)
        seconds = self.cooldown() if seconds is None else float(seconds)
        left = self._cools_until - self.context.clock.now()
        if 0 < left <= self._longest_cooldown:  # farther away: a clock was set back
            raise NoActionRequired(self.name, "the group still cools down")
        self.data_set(_SIZE, wanted)
        self.data_set(_COOLDOWN, max(seconds, 0.0))
        return CONVERGE

    def _compute_signalled_size(self, details: Mapping[str, Any], size: int) -> int:
        kind, by, step = details[KIND], details[ADJUSTMENT], details.get(STEP) or 0
        wanted = compute_size(size, kind, by, step, self.bounds())
        if wanted != int(wanted):
            # Heat counts as many members off its list, and says so in these words.
            raise TypeError("slice indices must be integers or None or have an __index__ method")
        self.check_size(wanted)
        if wanted == size:
            raise NoActionRequired(self.name, f"it has {size} members already")
        return int(wanted)

    @property
    def _longest_cooldown(self) -> float:
        return max(self.cooldown(), float(self.data().get(_COOLDOWN, 0.0)))

    @property
    def _cools_until(self) -> float:
        return float(self.data().get(_COOLS_UNTIL, 0.0))

    def _start_cooldown(self, members: Sequence[Member]) -> None:
        """Store the count of used names and begin the cooldown, after a change."""
        if self.context.operation is None:
            return
        used = find_first_unused(self.uuid, self._names_used, {member.name for member in members})
        if used != self._names_used:
            self.data_set(_NAMES_USED, used)
        signalled = self._action == SIGNAL
        seconds = float(self.data()[_COOLDOWN]) if signalled else max(self.cooldown(), 0.0)
        until = self.context.clock.now() + seconds
        if seconds > 0 and until > self._cools_until:
            self.data_set(_COOLS_UNTIL, until)

    # -- attributes ---------------------------------------------------------------------------

    def present(self) -> Sequence[Member]:
        """The members that have not failed, the oldest first."""
        return [member for member in super().present() if member.status != FAILED]

    def get_other_attribute(self, key: str, *path: Any) -> Any:
        """There is none."""
        raise InvalidTemplateAttribute(self.name, key)

    def member_attribute(self, key: str, path: Sequence[Any]) -> Any:
        """``resource.N``: the member number N, the oldest being 0; or the one of that name."""
        name, _, attribute = key.removeprefix("resource.").partition(".")
        members = {member.name: member for member in self.present()}
        if name.isdecimal() and name not in members and int(name) < len(members):
            name = list(members)[int(name)]
        if name not in members:
            raise member_not_found(name, self.name)
        below = [attribute, *path] if attribute else list(path)
        if not below:
            return members[name].reference
        return select(members[name].attribute(str(below[0])), below[1:])

    def build_output(self, names: Collection[str], path: tuple[Any, ...]) -> Any:
        """Build what one path reads of the members: the same of each."""
        key, below = str(path[0]), path[1:]
        if key.startswith("resource."):
            _, _, attribute = key.removeprefix("resource.").partition(".")
            below = (attribute, *below) if attribute else below
            return [{"get_attr": [name, *below]} for name in names] if below else None
        return super().build_output(names, path) if key in self.attributes_schema else None

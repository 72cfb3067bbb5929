"""Plans that pages have shown, kept as sealed rows until somebody applies them.

Any server of the same database finds them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from zonda.core.store.write.page_states import PageStates

from .project import Project

#: Plans that are kept in all, each with a template; and for how many seconds.
MOST = 128
LENGTH = 24 * 3600
_KIND = "plan"


def find_plan(project: Project, key: str) -> Any:
    """Find a plan of a project, a map; None if it is not kept."""
    now = project.service.app.clock.now()
    return project.reader.find_page_state(key, _KIND, now, project.id)


def keep_plan(project: Project, plan: Mapping[str, Any]) -> str:
    """Keep a plan that the caller has made; returns its key.

    Where there are too many, the oldest one of whoever has most goes: of the project with most
    plans, and its user with most. Nobody pushes out another's.
    """
    app = project.service.app
    key, body = app.ids(), app.store.sealer.seal(plan)
    ends_at = app.clock.now() + LENGTH
    user = project.caller.user_id

    def write(states: PageStates) -> None:
        states.add(key, _KIND, body, ends_at, project.id, user)
        kept = states.list(_KIND)
        while len(kept) > MOST:
            victim = choose_victim(kept)
            states.delete(victim, _KIND)
            kept = [each for each in kept if each[0] != victim]

    project.keep(lambda tx: write(tx.page_states))
    return key


def choose_victim(kept: Sequence[tuple[str, str, str]]) -> str:
    """The key of the plan that goes first, of (key, project, user) with the oldest in front."""
    project = _find_most_frequent([each for _, each, _ in kept])
    own = [(key, user) for key, each, user in kept if each == project]
    user = _find_most_frequent([name for _, name in own])
    return next(key for key, name in own if name == user)


def _find_most_frequent(names: list[str]) -> str:
    [(name, _)] = Counter(names).most_common(1)
    return name

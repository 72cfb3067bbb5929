"""What is asked of a stack in its whole life: every action, at random, as it may make sense."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from zonda.core.engine import actions
from zonda.core.engine.model import documents
from zonda.core.engine.model.states import PRESENT
from zonda.core.engine.preview.plan_file import format_plan
from zonda.core.engine.preview.preview import build_preview
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.errors import ZondaError

from .environment import SIZE
from .rest import clear
from .simulator import Simulator


class Asking:
    """Asks for one action after the other."""

    def __init__(self, sim: Simulator) -> None:
        self.sim = sim
        self.source = sim.source
        #: What the last stack that was abandoned has left.
        self.document: Mapping[str, Any] | None = None

    def __call__(self) -> None:
        """Ask for something."""
        stack = self.stack
        if stack is None:
            self._begin()
            return
        choices = self._choices(stack)
        weights = [weight for weight, _ in choices]
        self.source.choices([ask for _, ask in choices], weights)[0](stack)

    def _choices(self, stack: StackRow) -> list[tuple[float, Callable[[StackRow], None]]]:
        failed, idle = stack.status == "FAILED", stack.phase == "IDLE"
        waits = any(row.hook for row in self.rows)
        return [
            (10, self._update),
            (3 if idle else 1, self._part),
            (3 if idle else 0.3, self._apply_plan),
            (1 if idle else 4, self._cancel),
            (3 if idle else 0.3, self._check),
            (2 if idle else 0.3, self._suspend),
            (8 if stack.suspended and idle else 0.3, self._resume),
            (5 if stack.action == "SNAPSHOT" and not idle else 1, self._delete),
            (4 if idle else 1, self._roll_back),
            (8 if failed else 0.2, self._retry),
            (5 if idle else 0.3, self._snapshot),
            (4 if self._snapshots(stack) else 0, self._restore),
            (3 if self._snapshots(stack) else 0, self._forget),
            (1, self._abandon),
            (6 if failed and idle else 0.2, self._bind),
            (2, self._signal),
            (3 if idle else 0.3, self._mark),
            (1.5, self._protect),
            (20 if waits else 0.1, self._clear),
        ]

    @property
    def stack(self) -> StackRow | None:
        """The stack that lives, as it was last committed."""
        return self.sim.watcher.root

    @property
    def rows(self) -> list[ResourceRow]:
        """Its rows that are wanted."""
        stack, rows = self.stack, self.sim.watcher.rows.values()
        if stack is None:
            return []
        return [row for row in rows if row.stack_id == stack.id and row.want == PRESENT]

    def _name(self) -> str:
        names = [row.name for row in self.rows] or ["r0"]
        return str(self.source.choice(names)) if self.source.random() < 0.95 else "r9"

    # -- templates --------------------------------------------------------------------------------

    def _bundle(self) -> Any:
        sim, known = self.sim, self.sim.texts
        if known and self.source.random() < 0.6:
            made = sim.writing.changed(self.source, self.source.choice(known[-3:]))
        else:
            made = sim.writing.whole(self.source, sim.world.external)
        text = json.dumps(made)
        known.append(text)
        return sim.bundle(text)

    def _begin(self) -> None:
        source, sim = self.source, self.sim
        bundle, rollback = self._bundle(), source.random() < 0.4
        timeout = source.choice([1, 60, 600])
        if self.document is None and source.random() < 0.8:
            part = self._selection(json.loads(bundle.template)) if source.random() < 0.1 else {}
            sim.act(actions.CreateStack("s", bundle, timeout, rollback, **part))
            return
        if self.document is not None and source.random() < 0.6:
            found = self.document["resources"]
            bundle = sim.bundle(self.document["text"])
        else:
            found = self._found(json.loads(bundle.template))
        self.document = None
        sim.act(actions.AdoptStack("s", bundle, found, timeout, rollback))

    def _found(self, template: Mapping[str, Any]) -> dict[str, Any]:
        """Things that are nobody's, for most resources of a template."""
        found, world = dict[str, Any](), self.sim.world
        given: set[str] = set()
        for name, entry in template["resources"].items():
            if self.source.random() < 0.9:
                there = [each for each in world.free(entry["type"]) if each not in given]
                physical = there.pop() if there else world.there_before(entry["type"])
                given.add(physical)
                found[name] = {"resource_id": physical}
        return found

    def _selection(self, template: Mapping[str, Any]) -> dict[str, Any]:
        names = sorted(template["resources"]) or ["r0"]
        if self.source.random() < 0.3:
            names += [row.name for row in self.rows]
        key = self.source.choice(["targets", "excludes"])
        return {key: (self.source.choice(names),)}

    # -- actions ----------------------------------------------------------------------------------

    def _update(self, stack: StackRow) -> None:
        source = self.source
        rollback = None if source.random() < 0.5 else source.random() < 0.5
        timeout = source.choice([None, None, 1, 60])
        bundle = self._bundle()
        self.sim.act(actions.UpdateStack("s", bundle, timeout_mins=timeout, rollback=rollback))

    def _part(self, stack: StackRow) -> None:
        bundle = self._bundle()
        part = self._selection(json.loads(bundle.template))
        self.sim.act(actions.UpdateStack("s", bundle, **part))

    def _apply_plan(self, stack: StackRow) -> None:
        """Make a plan file now; it is carried out at some time later."""
        sim = self.sim
        action = actions.UpdateStack("s", self._bundle())
        try:
            found = build_preview(sim.services, action)
            text = format_plan(found, sim.services.sealer, sim.services.definitions)
        except ZondaError:
            return

        ceilings = {} if found.proposal is None else dict(found.ceilings)
        digest = sim.services.sealer.hmac(text.encode())[:12]
        key = (stack.id, found.stack.generation + 1, digest)
        if found.proposal is not None:
            sim.watcher.parts.promised[key] = ceilings
        sim.act(actions.ApplyPlan(text))

    def _cancel(self, stack: StackRow) -> None:
        self.sim.act(actions.CancelStack("s", rollback=self.source.random() < 0.5))

    def _check(self, stack: StackRow) -> None:
        self.sim.act(actions.CheckStack("s"))

    def _suspend(self, stack: StackRow) -> None:
        self.sim.act(actions.SuspendStack("s"))

    def _resume(self, stack: StackRow) -> None:
        self.sim.act(actions.ResumeStack("s"))

    def _delete(self, stack: StackRow) -> None:
        self.sim.act(actions.DeleteStack("s"))

    def _roll_back(self, stack: StackRow) -> None:
        source = self.source
        to = source.randrange(1, stack.generation + 1) if source.random() < 0.5 else None
        skip = (self._name(),) if source.random() < 0.3 else ()
        self.sim.act(actions.RollbackStack("s", to, skip))

    def _retry(self, stack: StackRow) -> None:
        self.sim.act(actions.RetryStack("s"))

    def _snapshots(self, stack: StackRow) -> list[str]:
        return [row.id for row in self.sim.reader.snapshots(stack.id)]

    def _snapshot(self, stack: StackRow) -> None:
        self.sim.act(actions.SnapshotStack("s", self.source.choice(["", "one"])))

    def _restore(self, stack: StackRow) -> None:
        whole = [row.id for row in self.sim.reader.snapshots(stack.id) if row.status == "COMPLETE"]
        chosen = self.source.choice(whole or self._snapshots(stack))
        self.sim.act(
            actions.RestoreSnapshot("s", chosen),
            done=lambda accepted: self.sim.disturbed.update(f"r{number}" for number in range(SIZE)),
        )

    def _forget(self, stack: StackRow) -> None:
        self.sim.act(actions.DeleteSnapshot("s", self.source.choice(self._snapshots(stack))))

    def _abandon(self, stack: StackRow) -> None:
        """Make the document now; the stack is abandoned later, if it is what it was."""
        sim, reader = self.sim, self.sim.reader
        now = reader.stack_row(stack.id)
        rows = documents.select_snapshot_rows(reader.resource_rows(stack.id))
        data = [reader.read_sealed_data(row.id) for row in rows]
        digest = documents.compute_digest(now, rows, data, reader.sealer)
        entries = {
            row.name: documents.build_entry(row, each, reader.sealer)
            for row, each in zip(rows, data, strict=True)
        }
        text = None
        if now.template_id is not None:
            text = reader.template(now.template_id).body["template"]

        def done(accepted: Any) -> None:
            if text is not None:
                self.document = {"resources": entries, "text": text}

        sim.act(actions.AbandonStack("s", digest, force=self.source.random() < 0.5), done=done)

    def _bind(self, stack: StackRow) -> None:
        world, rows = self.sim.world, self.rows
        new = [row.name for row in rows if row.action in ("INIT", "CREATE")]
        name = self.source.choice(new) if new else self._name()
        kind = next((row.type for row in rows if row.name == name), "Thing")
        taken = {row.physical_id for row in self.sim.watcher.rows.values()}
        free = [physical for physical in world.free(kind) if physical not in taken]
        physical = free[0] if free else world.there_before(kind)
        self.sim.act(actions.ImportResource("s", name, physical))

    def _signal(self, stack: StackRow) -> None:
        name = self._name()
        self.sim.disturbed.add(name)
        self.sim.act(actions.SignalResource("s", name, {}))

    def _mark(self, stack: StackRow) -> None:
        name, healthy = self._name(), self.source.random() < 0.3
        self.sim.disturbed.add(name)
        self.sim.act(actions.MarkResource("s", name, healthy=healthy))

    def _protect(self, stack: StackRow) -> None:
        names = () if self.source.random() < 0.2 else (self._name(),)
        self.sim.act(actions.ProtectStack("s", names, self.source.random() < 0.5))

    def _clear(self, stack: StackRow) -> None:
        waiting = [row for row in self.sim.watcher.rows.values() if row.hook]
        row = self.source.choice(waiting) if waiting else None
        if row is None or self.source.random() < 0.3:
            clear(self.sim, actions.ClearHooks("s", (self.source.choice(["*", "r1"]),)))
        elif self.source.random() < 0.5:
            clear(self.sim, actions.ClearHooks("s", (row.name,), (row.hook.strip("+"),)))
        else:
            details = {"unset_hook": row.hook.strip("+")}
            clear(self.sim, actions.SignalResource("s", row.name, details))

"""The plug-in calls of one operation: handler, polls, and the values read at its end.

Runs in the pool. One instance lives from ``handle_X`` to the end of the operation; after a
restart it is made anew. Gives answers (``outcome``), never what a plug-in raised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from zonda.core.store.values.jsontext import dumps
from zonda.core.store.values.opened import Opened
from zonda.core.template.definition.fingerprint import format_canonical
from zonda.hooks import records
from zonda.hooks.errors import NotReady, Permanent, ResourceFailure, UpdateReplace
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.resource import Resource
from zonda.hooks.runners.trace_context import keep_traceparent
from zonda.hooks.runners.waking import Waker, keep_waker
from zonda.hooks.text.borders import raise_interruption
from zonda.hooks.text.sanitize import get_retry_delay, safe_str

from ..model import row_annotations
from ..model.definition import Definition
from ..model.lending import Write
from ..model.outcomes import (
    NEW,
    NO,
    RESTRICTED,
    SAME,
    Again,
    Answer,
    Failure,
    Final,
    Postponed,
    Replace,
    Waiting,
)
from ..model.tracing import PlanRequest
from ..model.work_item import WorkItem
from . import call_log, live_state
from .context import EngineContext
from .deletion import SNAPSHOT, Forgetting, SavingDeletion
from .instances import Instances
from .reasons import OPEN, Secrets, format_not_in_plan, format_restricted, report_error
from .redaction import scrub
from .replacement import find_preparation, restore
from .values import check_value, read_outputs

#: Operations whose handlers take what was handed to them.
_HANDED = {"ADOPT": row_annotations.ADOPT, "DELETE_SNAPSHOT": row_annotations.SNAPSHOT}
UNSUPPORTED = "{} not supported for {}"


class PluginOperation:
    """One running operation in the memory of the process that drives it."""

    def __init__(
        self, instances: Instances, seen: WorkItem, gathered: list[Write] | None = None
    ) -> None:
        self.instances = instances
        self.seen = seen
        self.row = seen.row
        self.action = seen.row.op
        self.started_at = seen.row.started_at or 0.0
        self.token: Any = None
        #: The request of a signal; None: the one behind the plan.
        self.request: PlanRequest | None = None
        self._gathered = gathered
        #: Whether its calls only compute, so that a few threads make them all.
        self.is_light = instances.definitions.is_inward(seen.row)
        self._waker = Waker(lambda: instances.lending.wake(seen.row.id), instances.lending.load)
        self._instance: Resource | None = None
        self._secrets: Secrets | None = None
        self._lookups = (0, 0)
        self._during = "handle"

    # -- the calls ------------------------------------------------------------------------------

    def handle(self) -> Answer:
        """Call ``handle_X``."""
        return self._call_logged(self._handle)

    def guard(self, call: Callable[[], Answer]) -> Callable[[], Answer]:
        """``call`` as a function that returns a ``Failure`` instead of raising."""
        return lambda: self._call_logged(call)

    def next_attempt(self) -> None:
        """Prepare the next call of the handler."""
        self.row.attempt += 1
        self.instance.context = self._build_context()

    def release(self) -> None:
        """Let go, at the end, of what holds this operation: such a circle is freed late."""
        self._waker.is_over = True
        self._instance = None
        (self._gathered or []).clear()

    def start_anew(self, seen: WorkItem) -> None:
        """Take the stored operation; its next call is made on a new instance."""
        self.seen, self.row = seen, seen.row
        self.token = self._instance = self._secrets = None

    def handle_once_more(self) -> Answer:
        """Repeat an attempt with an unknown result, with the same key."""
        return self._call_logged(
            lambda: self._find() if self.policy() == "find" else self._handle()
        )

    def cleaner(self) -> PluginOperation:
        """The deletion of the remains of this operation; it runs in its place."""
        row = records.replace(self.row, op="DELETE", deletion_policy="Delete")
        return PluginOperation(self.instances, records.replace(self.seen, row=row))

    def find(self) -> Answer:
        """Ask ``handle_find`` whether an interrupted operation was begun; if not, begin it."""
        return self._call_logged(self._find)

    def poll(self) -> Answer:
        """Call ``check_X_complete``."""
        return self._call_logged(self._poll)

    def abort(self) -> None:
        """Tell the plug-in that the operation is given up, if it has a method for that."""
        self._waker.is_over = True
        cancel = getattr(self._instance, f"handle_{self.action.lower()}_cancel", None)
        if cancel is not None:
            self._call_logged(lambda: cancel(self.token) or Failure(""))

    def state(self) -> Final:
        """The values of the resource now (after a signal): no operation ends."""
        return Final() if self.action == "DELETE" else self._build_shown(self._make_current())

    def restore(self) -> None:
        """Take the stored token up again."""
        self.token = self.instances.lending.sealer.load(self.row.token)

    def note_stored(self, answer: Waiting) -> None:
        """Note that the answer is stored."""

    def tell(self, message: str) -> None:
        """Show what the operation waits for."""
        row = self.row
        self.instances.lending.progress(row.stack_id, row.name, message, row.started_at)

    def answer_refused(self, error: BaseException) -> Answer:
        """The answer where the writes with a token are refused."""
        return self._build_failure(error)

    def policy(self) -> str:
        """The policy of recovery for an interrupted handler."""
        if self._is_replaced:
            return "idempotent"
        if self._saves_first and self._build_saving().has_to_save:
            return "idempotent" if self.instance.start_policy == "idempotent" else "fail"
        return "idempotent" if self.action in ("DELETE", "CHECK") else self.instance.start_policy

    def seal_carried_data(self) -> str | None:
        """The sealed data for the next attempt."""
        if self._saves_first and (self._is_saved() or SavingDeletion.has_saved(self.token)):
            return self.instances.lending.sealer.seal({"saved": True})
        return None

    # -- how they are made ----------------------------------------------------------------------

    @property
    def instance(self) -> Resource:
        """The plug-in instance of this operation."""
        if self._instance is None:
            self._instance = self.instances.make(self.seen, context=self._build_context())
        return self._instance

    def _build_context(self) -> EngineContext:
        """The context of the next call; what a type does that acts outside is stored at once."""
        acts_outside = self.instances.definitions.class_of(self.row).has_side_effects
        gathered = None if acts_outside else self._gathered
        return self.instances.context(
            self.seen, operation=True, gathered=gathered, scrubbed=self._redact
        )

    def _redact(self, text: str) -> str:
        # Most types have nothing to say, and the forms of all secrets take long to list.
        return scrub(text, self.secrets.values) if text else ""

    def _read_new_definition(self) -> ResourceDefinition:
        return self.instances.read(self.row, self.row.op_definition)

    def _call_logged(self, call: Callable[[], Answer]) -> Answer:
        if self.is_light:
            return self._call_traced(call)
        with keep_waker(self._waker):
            return self._call_traced(call)

    def _call_traced(self, call: Callable[[], Answer]) -> Answer:
        tracing = self.instances.lending.tracing
        if tracing.tracer is not None:
            parent = self._find_request().traceparent
            with (
                tracing.tracer.trace_call(self.row, self._during, parent) as traceparent,
                keep_traceparent(traceparent),
            ):
                return self._call_timed(call)
        return self._call_timed(call)

    def _call_timed(self, call: Callable[[], Answer]) -> Answer:
        if not call_log.is_enabled():
            return self._call_safely(call)
        clock = self.instances.lending.clock
        begun = clock.monotonic()
        answer = self._call_safely(call)
        seconds, request = clock.monotonic() - begun, self._find_request().request
        call_log.log_call(self.seen, self._during, seconds, answer, request)
        return answer

    def _find_request(self) -> PlanRequest:
        return self.request or self.instances.lending.tracing.find_request(self.seen.stack)

    def _call_safely(self, call: Callable[[], Answer]) -> Answer:
        try:
            return call()
        except UpdateReplace as error:
            if self.action == "UPDATE" and self.row.ceiling:
                return Failure(format_not_in_plan(self.row, "replace"), "NotInPlan")
            if self.action != "UPDATE":
                return self._build_failure(error)
            if self._is_restricted("replace"):
                reason = format_restricted(self.row.name, "replace")
                return Failure(reason, RESTRICTED, during=self._during)
            return Replace(prepares=find_preparation(type(self.instance)) is not None)
        except BaseException as error:  # the border: a plug-in may raise anything, or exit
            raise_interruption(error)
            return self._build_failure(error)

    def _is_restricted(self, what: str) -> bool:
        definition, name = self._find_definition(), self.row.name
        return definition is not None and what in definition.registry.list_restricted_actions(name)

    def _build_failure(self, error: BaseException) -> Failure:
        failure = report_error(self.row.name, error, self.secrets)
        again = self._build_again(error)
        return records.replace(failure, during=self._during, again=again)

    def _build_again(self, error: BaseException) -> Again:
        """The data for another attempt, after ``error``.

        ``ResourceFailure`` means that it has failed; after anything else that a handler raises
        nobody knows whether something was begun, so that its key is used once more if it may be.
        """
        if isinstance(error, Permanent | UpdateReplace | _NotCreated):
            return NO
        known = isinstance(error, ResourceFailure) or self._during == "poll"
        if known or self._instance is None or self.policy() == "fail":
            return NEW
        return SAME

    @property
    def secrets(self) -> Secrets:
        """The values that reasons must not contain."""
        lookups = (len(self.seen.found), len(self.seen.lent))
        if self._secrets is None or lookups != self._lookups:
            self._secrets, self._lookups = self.instances.secrets(self.seen), lookups
        return self._secrets

    def _find_definition(self) -> Definition | None:
        template_id = self.row.op_template_id or self.row.have_template_id
        return self.instances.definition_of(template_id, self.row.name)

    # -- handle -----------------------------------------------------------------------------------

    def _handle(self) -> Answer:
        self._during = "handle"
        if self._has_no_object():
            raise _NotCreated("Resource not created")
        handler = self._find_handler()
        if handler is None:
            return self._complete_without_handler()
        try:
            if self._is_replaced:
                handler()
                return Replace()
            self.token = self._call_handler(handler)
        except NotReady as error:
            return Postponed(get_retry_delay(error), queued=error.queued)
        return self._build_first_answer()

    def _find_handler(self) -> Callable[..., Any] | None:
        forgetting = self._build_forgetting()
        return self._find_own_handler() if forgetting is None else forgetting.handle

    def _build_forgetting(self) -> Forgetting | None:
        """The deletion with snapshot data, where the resource has any."""
        if self.action != "DELETE":
            return None
        kept = row_annotations.read_kept(self.instances.lending.sealer, self.row)
        if not kept:
            return None
        return Forgetting(self.instance, kept, self._find_own_handler(), self._find_own_checker())

    @property
    def _is_replaced(self) -> bool:
        """Whether the instance is made ready for its replacement."""
        return self.action == "UPDATE" and row_annotations.has(self.row, row_annotations.REPLACING)

    def _find_own_handler(self) -> Callable[..., Any] | None:
        if self._is_replaced:
            return find_preparation(self.instance)
        if self._saves_first:
            return self._build_saving().handle
        return getattr(self.instance, f"handle_{self.action.lower()}", None)

    @property
    def _saves_first(self) -> bool:
        return self.action == "DELETE" and self.row.deletion_policy == SNAPSHOT

    def _build_saving(self) -> SavingDeletion:
        return SavingDeletion(self.instance, saved=self._is_saved())

    def _is_saved(self) -> bool:
        """Whether an attempt before has saved a snapshot."""
        return SavingDeletion.has_saved(self.instances.lending.sealer.load(self.row.token))

    def _has_no_object(self) -> bool:
        """Whether nothing exists to be checked, suspended or resumed."""
        row = self.row
        made = bool(row.outputs_hash) or row.external_id is not None
        return self.action in ("CHECK", "SUSPEND", "RESUME") and not made

    def _complete_without_handler(self) -> Answer:
        if self.action == "CHECK":
            return self._build_final(UNSUPPORTED.format(self.action, self.row.type))
        return self._build_final()

    def _call_handler(self, handler: Callable[..., Any]) -> Any:
        if self.action in _HANDED:
            sealer, kind = self.instances.lending.sealer, _HANDED[self.action]
            return handler(row_annotations.read_values(sealer, self.row, kind))
        if self.action != "UPDATE":
            return handler()
        if row_annotations.has(self.row, row_annotations.PREPARED):
            restore(self.instances, self.seen, self.instance)
        before = self.instance.t
        prior = self.seen.read_prior(self.instances.lending.sealer)
        after = prior.adapt(self._read_new_definition(), type(self.instance))
        properties = self.instance.make_properties(after)
        changed = {key: after[key] for key in after if after[key] != before[key]}
        return handler(after, changed, properties.changes(self.instance.properties, prior.observed))

    def _build_first_answer(self) -> Answer:
        if self._find_checker() is None:
            return self._build_final()
        return self._build_waiting(None)

    def _find(self) -> Answer:
        self._during = "find"
        find = getattr(self.instance, "handle_find", None)
        try:
            found = None if find is None else find(self.row.op_id)
        except NotReady as error:
            return Postponed(get_retry_delay(error), finding=True)
        if found is None:
            return self._handle()
        self.token = found
        return self._build_first_answer()

    # -- poll -------------------------------------------------------------------------------------

    def _find_checker(self) -> Callable[[Any], Any] | None:
        forgetting = self._build_forgetting()
        return self._find_own_checker() if forgetting is None else forgetting.check

    def _find_own_checker(self) -> Callable[[Any], Any] | None:
        if self._saves_first:
            return self._build_saving().checker
        return getattr(self.instance, f"check_{self.action.lower()}_complete", None)

    def _poll(self) -> Answer:
        self._during = "poll"
        check = self._find_checker()
        if check is None:
            return self._build_final()
        self._reload_data()
        try:
            if check(self.token):
                return self._build_final()
        except NotReady as error:
            return self._build_waiting(get_retry_delay(error))
        return self._build_waiting(None)

    def _reload_data(self) -> None:
        """Read the data that a signal has stored meanwhile, through an instance of its own.

        Nothing is read again as long as something that this one stores has yet to be committed.
        """
        if hasattr(self.instance, "handle_signal") and not self._gathered:
            lending, row = self.instances.lending, self.row
            stored = self.instances.definitions.reader.read_sealed_data(row.id)
            self.instance._state.data = Opened(stored, lending.sealer) if stored else {}

    def _build_waiting(self, delay: float | None) -> Waiting:
        try:
            plain = None if self.token is None else dumps(self.token)
        except (TypeError, ValueError):
            return Waiting(self.token, None, True, delay)
        return Waiting(self.token, plain, False, delay)

    # -- the end ----------------------------------------------------------------------------------

    def _build_final(self, reason: str = "state changed", of: Resource | None = None) -> Final:
        """The end. ``of``: an instance with the definition that was achieved, if one is at hand."""
        if self.action == "DELETE":
            # None where no handler was called: its template or type may not be there any more.
            made = self._instance
            remains = "" if made is None else self._redact(safe_str(made.describe_remains()))
            return Final(reason=remains or reason)
        instance = self._make_current() if of is None else of
        if self.action == "ADOPT":
            reason = (
                self._redact(live_state.describe_differences(instance, self._read_marks()))
                or reason
            )
        elif self.action in ("CREATE", "UPDATE"):
            reason = self._redact(safe_str(instance.describe_outcome())) or reason
        return self._build_shown(instance, reason)

    def _build_shown(self, instance: Resource, reason: str = "state changed") -> Final:
        definition = self._find_definition()
        reference = instance.get_reference_id()
        check_value("the reference", reference)
        outputs = self._read_outputs(instance, definition)
        sealer = self.instances.lending.sealer
        seal_reference, seal_outputs = self._find_seals(instance, definition, outputs)
        text = format_canonical([reference, outputs])
        return Final(
            reference=sealer.dump(reference, sealed=seal_reference),
            outputs=sealer.dump(outputs, sealed=seal_outputs) if outputs else None,
            outputs_hash=sealer.hmac(text.encode()),
            reason=reason,
            hidden=self._dump_hidden(definition, type(instance)),
        )

    def _read_marks(self) -> Mapping[str, str]:
        """The marks of secret properties."""
        definition = self._find_definition()
        return {} if definition is None else self._collect_secrets(definition).marks

    def _dump_hidden(self, definition: Definition | None, cls: type[Resource]) -> str | None:
        """The hidden names at the end of the operation, where they may have changed."""
        if definition is None or self.row.hidden == "{}":
            return None
        return dumps(self._collect_secrets(definition).list_hidden(definition, cls))

    def _collect_secrets(self, definition: Definition) -> Secrets:
        row, found = self.row, Secrets.of(definition, self.row.name)
        text = row.definition if row.op_definition is None else row.op_definition
        found.add_properties(self.instances.read(row, text).properties)
        return found

    def _make_current(self) -> Resource:
        """The instance with the definition that the operation achieved."""
        if self.action != "UPDATE":
            self.instance.attributes.reset()
            return self.instance
        old = self.instance
        return type(old)(old.name, self._read_new_definition(), old.context, old._state)

    def _read_outputs(self, instance: Resource, definition: Definition | None) -> dict[str, Any]:
        if definition is None:
            return {}
        return read_outputs(instance, self._list_references(instance, definition))

    def _list_references(
        self, instance: Resource, definition: Definition
    ) -> Iterable[tuple[str, tuple[Any, ...]]]:
        """(key to store it under, name and keys below it) of what the template reads."""
        wanted = definition.referenced_attributes(self.row.name)
        names = list(instance.attributes_schema) if None in wanted else []
        names += sorted(name for name in wanted if name is not None)
        return ((name, (name,)) for name in dict.fromkeys(names))

    def _find_seals(
        self, instance: Resource, definition: Definition | None, outputs: dict[str, Any]
    ) -> tuple[bool, bool]:
        name = self.row.name
        if definition is None or definition.secrecy.is_open(name):
            return False, False
        marks = definition.secrecy
        return (
            marks.classify_reference(name) != OPEN,
            any(
                marks.classify_attribute(name, path[0], path[1:]) != OPEN
                for key, path in self._list_references(instance, definition)
                if key in outputs
            ),
        )


class _NotCreated(Exception):
    heat_type = "Exception"

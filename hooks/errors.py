"""The errors of zonda, as one tree. The class says who must act.

::

    ZondaError                      message, code, hint
    ├─ TemplateError                the template's author: label, path, at, place, heat_type
    │   ├─ SchemaError              a declaration (parameter, property, constraint) is malformed
    │   ├─ VersionError             heat_template_version is missing or unknown
    │   ├─ UnknownReference         a name that is nowhere declared
    │   ├─ CircularDependency       + ring; related holds its edges
    │   └─ ValidationErrors         + errors: every fault found, Heat's first one in front; warnings
    ├─ RequestError                 the caller
    │   ├─ NotFound                 + kind, name
    │   ├─ Conflict                 the stack's state forbids the action
    │   │   └─ ActionInProgress     another action has not come to its end
    │   ├─ NotSupported             what was asked for cannot be done with this object
    │   │   └─ ActionNotSupported   its type has no handler for the action
    │   └─ UsageError               a flag, a setting or a file that cannot be read
    ├─ ResourceFailure              the outside world: resource, action; raised by plug-ins
    │   ├─ Permanent                no retry can help
    │   └─ NotReady                 + delay: not a failure, ask again
    ├─ UpdateReplace                a plug-in's answer: this change needs a replacement
    ├─ NoActionRequired             a plug-in's answer: this signal changes nothing
    ├─ PluginError                  the operator: plugin, distribution
    └─ StoreError                   the operator: the database cannot be used

Callers match on the class and the fields, never on the sentence. ``str(error)`` of a
``TemplateError`` is the sentence Heat would give, since Heat's users search for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from .records import dataclass

PathItem = str | int
Path = tuple[PathItem, ...]


class HiddenIndex(int):
    """An index that paths in Heat's notation leave out: of the branch of an ``if``."""


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a file that the user wrote; ``line`` and ``column`` start at 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Related:
    """Another position that explains a fault or a warning, and what stands there."""

    message: str
    place: Place | None = None
    at: Path = ()


@dataclass(frozen=True, slots=True)
class TemplateWarning:
    """Something in a template or an environment that is odd, and no fault.

    Warnings change no exit code. ``path`` leads to it in its document.
    """

    code: str
    message: str
    path: Path = ()
    place: Place | None = None
    hint: str = ""
    related: tuple[Related, ...] = ()

    def __str__(self) -> str:
        return self.message


def show_path(path: Sequence[PathItem]) -> str:
    """``("a", "b", 0, "c")`` as Heat writes it: ``a.b[0].c``."""
    shown = ""
    for item in path:
        if isinstance(item, HiddenIndex):
            continue
        if isinstance(item, int) or str(item).isdigit():
            shown += f"[{item}]"
        elif shown:
            shown += f".{item}"
        else:
            shown = str(item)
    return shown


class ZondaError(Exception):
    """Root of the tree. ``message`` is for people, ``code`` (``ZONnnn``) is stable."""

    code = "ZON000"
    heat_type = "Error"

    def __init__(self, message: str = "", *, hint: str = "", code: str | None = None) -> None:
        self.message = message or (self.__doc__ or "").strip().partition("\n")[0]
        self.hint = hint
        if code is not None:
            self.code = code
        super().__init__(self.message)


class TemplateError(ZondaError):
    """A template or an environment is wrong, and its author must act.

    ``path`` is the path shown in Heat's words (``("outputs", "o", "value", "list_join")``) and
    ``at`` the position in the document, where that differs; ``place`` is filled in by whoever
    holds the document. ``label`` is Heat's prefix (``Property error``). ``heat_type`` is the
    class that Heat raises. ``stage`` says when it was found: ``parse`` (text and version),
    ``environment``, ``validate`` or ``create``. ``related`` are further positions that explain it.
    ``way``: the resources that lead from the stack's own template to the nested template that has
    the fault, the outermost first. ``hides_source``: a hidden value stands at ``place``, so that
    the line is not shown.
    """

    stage = "validate"
    hides_source = False
    #: The sentence for where what it quotes is hidden; empty where there is none.
    discreet = ""

    code = "ZON100"
    heat_type = "StackValidationFailed"

    def __init__(
        self,
        message: str,
        *,
        path: Sequence[PathItem] = (),
        label: str = "",
        at: Sequence[PathItem] | None = None,
        place: Place | None = None,
        code: str | None = None,
        heat_type: str | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint, code=code)
        self.path: Path = tuple(path)
        self.at: Path = tuple(path if at is None else at)
        self.label = label
        self.place = place
        self.related: tuple[Related, ...] = ()
        self.way: tuple[Related, ...] = ()
        if heat_type is not None:
            self.heat_type = heat_type

    def __str__(self) -> str:
        parts = [self.label, show_path(self.path), self.message]
        return ": ".join(part for part in parts if part)

    def as_warning(self) -> TemplateWarning:
        """The error as a warning."""
        path = tuple(self.at or self.path)
        related = tuple(self.related)
        return TemplateWarning(self.code, self.message, path, self.place, self.hint, related)

    def prepend_path(self, *prefix: PathItem) -> TemplateError:
        """This error with ``prefix`` in front of its path (in place)."""
        self.path = (*prefix, *self.path)
        self.at = (*prefix, *self.at)
        return self


class SchemaError(TemplateError):
    """The declaration of a parameter, a property or a constraint is malformed."""

    code = "ZON110"
    heat_type = "InvalidSchemaError"


class VersionError(TemplateError):
    """The template names no version, or one that does not exist."""

    code = "ZON101"
    heat_type = "InvalidTemplateVersion"


class UnknownReference(TemplateError):
    """A resource, parameter, condition or attribute that is nowhere declared."""

    code = "ZON120"
    heat_type = "InvalidTemplateReference"


class TooManyResources(TemplateError):
    """A stack, or a group, would have more resources than a stack may have."""

    code = "ZON153"
    heat_type = "RequestLimitExceeded"

    def __init__(
        self, wanted: int, most: int, *, at: Sequence[PathItem] = (), nested: bool = False
    ) -> None:
        below = " with all that is nested in it" if nested else ""
        super().__init__(
            f"A stack{below} may have {most} resources; this one would have {wanted}.",
            at=at,
            hint="Have fewer of them, or raise the setting max_resources_per_stack.",
        )


class CircularDependency(TemplateError):
    """Resources that wait for each other. ``ring`` is the shortest circle, first name repeated.

    ``related`` holds one entry per edge: what makes it, and where that stands.
    """

    code = "ZON130"
    heat_type = "CircularDependencyException"

    def __init__(
        self,
        message: str,
        *,
        ring: Sequence[str] = (),
        edges: Sequence[Related] = (),
        **fields: object,
    ) -> None:
        super().__init__(message, **fields)  # type: ignore[arg-type]
        self.ring = tuple(ring)
        self.related = tuple(edges)


class ValidationErrors(TemplateError):
    """Every fault that was found, at least one; the first is the one Heat would raise.

    ``warnings`` are there where they were asked for.
    """

    def __init__(
        self, errors: Sequence[TemplateError], warnings: Sequence[TemplateWarning] = ()
    ) -> None:
        first = errors[0]
        super().__init__(
            first.message,
            path=first.path,
            label=first.label,
            at=first.at,
            place=first.place,
            code=first.code,
            heat_type=first.heat_type,
            hint=first.hint,
        )
        self.errors = tuple(errors)
        self.warnings = tuple(warnings)
        self.related = first.related
        self.way = first.way
        self.stage = first.stage

    def __str__(self) -> str:
        return str(self.errors[0])


class RequestError(ZondaError):
    """The caller asked for something that cannot be done."""

    code = "ZON200"
    heat_type = "HTTPBadRequest"


class NotFound(RequestError):
    """There is no such thing. ``kind`` is ``stack``, ``resource``, ``output``, ...

    ``stack``: the name of the one that has no such resource.
    """

    code = "ZON201"
    heat_type = "EntityNotFound"

    def __init__(self, kind: str, name: str, *, hint: str = "", stack: str = "") -> None:
        where = f" in Stack {stack}" if stack else ""
        super().__init__(f"The {kind} ({name}) could not be found{where}.", hint=hint)
        self.kind = kind
        self.name = name
        if stack:
            self.heat_type = "ResourceNotFound"


class Conflict(RequestError):
    """The state of the stack forbids this action just now."""

    code = "ZON202"
    heat_type = "ActionInProgress"


class ActionInProgress(Conflict):
    """Another action on the stack has not come to its end."""


class NotSupported(RequestError):
    """The object cannot do this."""

    code = "ZON203"
    heat_type = "NotSupported"


class ActionNotSupported(NotSupported):
    """The type of the resource has no handler for the action."""

    heat_type = "ResourceActionNotSupported"

    def __init__(self, action: str, *, hint: str = "") -> None:
        super().__init__(f"{action} is not supported for resource.", hint=hint)


class UsageError(RequestError):
    """A flag, a setting or a file is unusable as given."""

    code = "ZON204"


class UsageErrors(UsageError):
    """Every fault of the settings, at least one. ``str`` has a line for each."""

    def __init__(self, errors: Sequence[UsageError]) -> None:
        super().__init__("\n".join(map(str, errors)), code=errors[0].code)
        self.errors = tuple(errors)


class ResourceFailure(ZondaError):
    """An operation on a resource failed in the outside world."""

    code = "ZON300"
    heat_type = "ResourceFailure"


class ReadOnlyCheck(ResourceFailure):
    """A drift check tried to change something by ``what``."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"A drift check is read-only: {what} is refused while get_live_state runs",
            hint="Keep in context.observation what the next call of the same check needs.",
        )


class Permanent(ResourceFailure):
    """The operation failed and no retry can help."""

    code = "ZON301"


class NotReady(ResourceFailure):
    """Not a failure: ask again after ``delay`` seconds.

    From ``handle_X``: call it again with the same operation id. From ``check_X_complete``: not
    complete yet. From ``get_live_state``: call it again within the same check. The deadline of the
    operation or of the check bounds each.

    ``queued`` (from ``handle_X``): nothing was begun, the operation stands in a queue whose owner
    rings its waker. The call is made again as if it were the first, and nothing is stored between.
    """

    code = "ZON302"

    def __init__(
        self, delay: float, message: str = "not ready yet", *, queued: bool = False
    ) -> None:
        super().__init__(message)
        self.delay = delay
        self.queued = queued


class UpdateReplace(ZondaError):
    """A plug-in's answer to ``handle_update``: this change needs a new resource."""

    code = "ZON310"
    heat_type = "UpdateReplace"

    def __init__(self, resource_name: str = "Unknown") -> None:
        super().__init__(f"The Resource {resource_name} requires replacement.")
        self.resource_name = resource_name


class InvalidTemplateAttribute(TemplateError):
    """A resource has no such attribute (the guide's name for it)."""

    code = "ZON121"
    heat_type = "InvalidTemplateAttribute"

    def __init__(self, resource: str = "", key: str = "") -> None:
        super().__init__(f"The Referenced Attribute ({resource} {key}) is incorrect.")


class NoActionRequired(ZondaError):
    """A plug-in's answer to a signal that changes nothing: it leaves no event.

    ``reason`` tells why, e.g. that the time to wait between two changes is not over.
    """

    code = "ZON311"
    heat_type = "NoActionRequired"

    def __init__(self, res_name: str = "Unknown", reason: str = "") -> None:
        super().__init__(f"{res_name} has nothing to do: {reason}")
        self.resource_name = res_name
        self.reason = reason


class PluginError(ZondaError):
    """A plug-in cannot be used; the operator must act. The rest goes on without it."""

    code = "ZON400"

    def __init__(
        self,
        message: str,
        *,
        plugin: str = "",
        distribution: str = "",
        version: str = "",
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.plugin = plugin
        self.distribution = distribution
        self.version = version


class StoreError(ZondaError):
    """The database cannot be used; the operator must act. Nothing was lost by refusing."""

    code = "ZON500"

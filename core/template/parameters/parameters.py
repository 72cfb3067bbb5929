"""The ``parameters`` section: schemas, values, and their redacted form.

Called by ``stack.load``. Heat's order: all schemas are read, then unknown names among the given
ones are refused, then each parameter is checked in template order. Values come from the user, the
environment's ``parameters``, its ``parameter_defaults`` and the template's default, in this order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from zonda.hooks.context import Clock, ResourceContext
from zonda.hooks.errors import Related, SchemaError, TemplateError
from zonda.hooks.records import dataclass
from zonda.hooks.runners.references import StackRef
from zonda.hooks.schema.constraints import (
    BaseCustomConstraint,
    Constraint,
    ConstraintNotFound,
    CustomConstraint,
    NotChecked,
    Violation,
)
from zonda.hooks.schema.values import NOT_CHECKED
from zonda.hooks.text.patterns import full_match
from zonda.hooks.text.redaction import MASK

from ...system.clock import SystemClock
from ..source.bundle import Identity, Limits
from ..source.cloudformation import WRITTEN_TYPES, find_invalid_parameters
from ..source.diagnostics import (
    CONSTRAINT_UNKNOWN,
    DEFAULT,
    PARAMETER,
    PARAMETER_CONSTRAINT,
    PARAMETER_IMMUTABLE,
    PARAMETER_MISSING,
    PARAMETER_UNDECLARED,
    PARAMETER_UNKNOWN,
    FollowUpError,
    TooLarge,
    format_type_name,
    suggestion,
)
from ..source.document import Document
from ..source.versions import CFN, TAGS_SINCE
from .constraints import check_keys, parse_constraints
from .types import CONVERSIONS, TYPES, to_constrained_form, to_default_form

SECTION = "parameters"

_KEYS = ("type", "default", "description", "label", "hidden", "constraints", "immutable", "schema")

#: The processor's seconds of this thread: a busy machine refuses no good template.
_CPU = SystemClock().thread_cpu


@dataclass(frozen=True, slots=True)
class ParameterSchema:
    """One declared parameter. ``default`` is as written; null means that there is none."""

    name: str
    type: str
    default: Any = None
    description: Any = ""
    label: Any = None
    hidden: bool = False
    immutable: bool = False
    constraints: tuple[Constraint, ...] = ()
    tags: tuple[Any, ...] = ()
    #: The template's name of the type, where that is another one.
    written_type: str = ""


class ConstraintContext:
    """The part of a ResourceContext that the constraints of parameters need.

    ``stack``, ``root_stack``, ``is_shared``: whose parameters they are, as in ``ResourceContext``.
    """

    operation = None

    def __init__(
        self,
        constraints: Mapping[str, type[BaseCustomConstraint]],
        limits: Limits,
        clock: Clock,
        stack: StackRef,
        root_stack: str,
        is_shared: bool,
    ) -> None:
        self.clock = clock
        self.stack = stack
        self.root_stack = root_stack
        self.is_shared = is_shared
        self._constraints = constraints
        self._pattern_seconds = limits.pattern_seconds
        self._left = limits.patterns_seconds

    def full_match(self, pattern: str, text: str) -> bool:
        """Whether ``pattern`` matches all of ``text``; all patterns share one bound of CPU time."""
        if self._left <= 0:
            raise ValueError("the patterns of all parameters take too long together")
        begun = _CPU()
        try:
            return full_match(pattern, text, min(self._pattern_seconds, self._left))
        finally:
            self._left -= _CPU() - begun

    def constraint(self, name: str) -> type[BaseCustomConstraint] | None:
        """The custom constraint of that name."""
        return self._constraints.get(name)

    @property
    def constraint_names(self) -> list[str]:
        """The custom constraints that are installed."""
        return sorted(self._constraints)

    def client(self, name: str) -> Any:
        """No client: parameters are checked without any service."""
        raise ValueError(f"there is no client {name} to check a parameter with")


class Parameters:
    """The parameters of one stack; ``value`` is the value of ``get_param``."""

    def __init__(self, identity: Identity) -> None:
        self.schemas: dict[str, ParameterSchema] = {}
        self.values: dict[str, Any] = {}
        self.given: Mapping[str, Any] = {}
        self._defaults: Mapping[str, Any] = {}
        self._wrong: set[str] = set()
        #: Parameters of a nested stack that are hidden because of where their values come from.
        self.hidden_by_origin: frozenset[str] = frozenset()
        #: Parameters, pseudo ones too, whose values are only known once other resources are there.
        self.unknown: frozenset[str] = frozenset()
        self._pseudo = {
            "OS::stack_name": identity.stack_name,
            "OS::stack_id": identity.stack_id,
            "OS::project_id": identity.project_id,
        }

    @property
    def pseudo(self) -> Mapping[str, str]:
        """The pseudo parameters, which every template has."""
        return self._pseudo

    @property
    def hidden(self) -> frozenset[str]:
        """Names whose values are never shown."""
        declared = frozenset(name for name, schema in self.schemas.items() if schema.hidden)
        return declared | (self.hidden_by_origin & self.schemas.keys())

    def get_raw(self, name: str) -> Any:
        """The raw value of a declared parameter, right or wrong; null if there is none."""
        return (
            self.values[name] if name in self.values else self._find_raw_value(self.schemas[name])
        )

    def value(self, name: Any) -> Any:
        """The value of a parameter or pseudo parameter; raises TemplateError."""
        if name in self.values:
            return self.values[name]
        if name in self._wrong or name in self.unknown:
            raise FollowUpError
        if name in self._pseudo:
            return self._pseudo[name]
        raise TemplateError(
            f"The Parameter ({name}) was not provided.",
            heat_type="UserParameterMissing",
            code=PARAMETER_UNDECLARED,
            hint=suggestion(name, (*self.schemas, *self._pseudo))
            or _build_pseudo_hint(name, self._pseudo),
        )

    def redact_values(self) -> dict[str, Any]:
        """The redacted values: hidden ones masked, pseudo parameters included."""
        hidden = self.hidden
        own = {name: MASK if name in hidden else self.values[name] for name in self.values}
        return {**self._pseudo, **own}

    def declare(self, document: Document, version: str, errors: list[TemplateError]) -> None:
        """Read the schemas of a template."""
        data = document.data.get(SECTION)
        refused = find_invalid_parameters(document.written, document.cfn_key)
        if version in CFN:
            self._pseudo = build_cfn_pseudo(self._pseudo)
        if not data:  # whatever is empty, as in Heat
            return
        if not isinstance(data, Mapping):
            errors.append(
                TemplateError(
                    f'"parameters" must contain a map. Found a {format_type_name(data)} instead',
                    at=(SECTION,),
                    code=SchemaError.code,
                    heat_type="AttributeError",
                )
            )
            return
        known = document.made.get((ParameterSchema, version))
        if known is not None:
            self.schemas.update(known)
            return
        for name, entry in data.items():
            try:
                if name in refused:
                    raise refused[name]
                self.schemas[name] = parse_schema(name, entry, version)
            except SchemaError as error:
                self._wrong.add(name)
                errors.append(error)
        if not self._wrong:
            document.made[ParameterSchema, version] = dict(self.schemas)

    def set_values(
        self,
        given: Mapping[str, Any],
        defaults: Mapping[str, Any],
        context: ConstraintContext,
        errors: list[TemplateError],
    ) -> None:
        """Set the given values; check and convert every parameter."""
        self.given, self._defaults = given, defaults
        errors.extend(self._find_unknown_faults())
        resource_context = cast(ResourceContext, context)
        for name, schema in self.schemas.items():
            try:
                _check_schema(schema, resource_context)
                if name in self.unknown:
                    self._wrong.add(name)
                    continue
                self.values[name] = self._convert_value(schema, resource_context, errors)
            except TemplateError as error:
                self._wrong.add(name)
                errors.append(error)

    def _find_unknown_faults(self) -> Iterator[TemplateError]:
        for name in self.given:
            if name not in self.schemas and name not in self._wrong:
                yield TemplateError(
                    f"The Parameter ({name}) was not defined in template.",
                    at=(SECTION, name),
                    heat_type="UnknownUserParameter",
                    code=PARAMETER_UNKNOWN,
                    hint=suggestion(name, self.schemas),
                )

    def _convert_value(
        self, schema: ParameterSchema, context: ResourceContext, errors: list[TemplateError]
    ) -> Any:
        """Convert and check a value; raises TemplateError.

        A constraint that is not installed says nothing about the value: it only goes to ``errors``.
        """
        raw = self._find_raw_value(schema)
        if raw is None:
            raise TemplateError(
                f"The Parameter ({schema.name}) was not provided.",
                at=(SECTION, schema.name),
                heat_type="UserParameterMissing",
                code=PARAMETER_MISSING,
                hint="Give it a value, or a default in the template.",
            )
        try:
            value = CONVERSIONS[schema.type](raw)
            form = to_constrained_form(schema.type, raw, value)
            for constraint in schema.constraints:
                try:
                    constraint.validate(form, schema, context)
                except (ConstraintNotFound, NotChecked) as error:
                    errors.append(self._make_fault(schema, error, context))
        except ValueError as error:
            fault = self._make_fault(schema, error, context)
            raise fault from (None if schema.hidden else error)
        return value

    def _make_fault(
        self, schema: ParameterSchema, error: ValueError, context: ResourceContext
    ) -> TemplateError:
        fault = _make_invalid_fault(schema, error, context)
        if self.origin(schema.name) != "default":
            declared = Related(f"{schema.name} is declared here", at=(SECTION, schema.name))
            fault.related = (declared,)
        return fault

    def origin(self, name: str) -> str:
        """The origin of the value of ``name``: ``parameters`` (given by the user or an
        environment), ``parameter_defaults``, or ``default``.
        """
        if self.given.get(name) is not None:
            return "parameters"
        return "parameter_defaults" if self._defaults.get(name) is not None else "default"

    def _find_raw_value(self, schema: ParameterSchema) -> Any:
        for source in (self.given, self._defaults):
            if source.get(schema.name) is not None:
                return source[schema.name]
        return schema.default

    def find_immutable_change(self, previous: Mapping[str, Any]) -> TemplateError | None:
        """Find the fault of an immutable parameter that changes; ``previous``: values before.

        A given value is compared as it was given, so a number given as text counts as changed.
        """
        changed = [
            name
            for name, schema in self.schemas.items()
            if schema.immutable
            and name in previous
            and previous[name] != self.given.get(name, self.values.get(name))
        ]
        if not changed:
            return None
        return TemplateError(
            "The following parameters are immutable and may not be updated: " + ", ".join(changed),
            at=(SECTION, changed[0]),
            heat_type="ImmutableParameterModified",
            code=PARAMETER_IMMUTABLE,
        )


def parse_schema(name: Any, entry: Any, version: str) -> ParameterSchema:
    """Parse one entry of the section; raises SchemaError."""
    path = (SECTION, name)
    if not isinstance(name, str):
        raise SchemaError(
            f"The name of a parameter must be text, not {name!r}.",
            at=path,
            heat_type="TypeError",
            hint="Put the name in quotes.",
        )
    keys = (*_KEYS, "tags") if version >= TAGS_SINCE else _KEYS
    check_keys(entry, keys, f"parameter ({name})", path)
    if "type" not in entry:
        raise SchemaError(
            f"Missing parameter type for parameter: {name}",
            at=path,
            hint=f"One of {', '.join(TYPES)}.",
        )
    tags = entry.get("tags", [])
    if not isinstance(tags, list):
        raise SchemaError(
            f"Tags property should be a list for parameter: {name}", at=(*path, "tags")
        )
    constraints = parse_constraints(name, entry.get("constraints"), version, (*path, "constraints"))
    kind = entry["type"]
    if kind not in TYPES:
        raise SchemaError(
            f"Invalid type ({kind})",
            at=(*path, "type"),
            hint=suggestion(kind, TYPES) or _suggest_type(kind),
        )
    return ParameterSchema(
        name=name,
        type=kind,
        default=entry.get("default"),
        description=entry.get("description", ""),
        label=entry.get("label"),
        hidden=bool(entry.get("hidden")),
        immutable=bool(entry.get("immutable")),
        constraints=tuple(constraints),
        tags=tuple(tags),
        written_type=WRITTEN_TYPES[kind] if version in CFN else "",
    )


def _suggest_type(kind: Any) -> str:
    lowered = str(kind).lower()
    return f"Did you mean {lowered}?" if lowered in TYPES else f"One of {', '.join(TYPES)}."


def _check_schema(schema: ParameterSchema, context: ResourceContext) -> None:
    """Raise SchemaError unless the constraints fit the type and the default."""
    try:
        for constraint in schema.constraints:
            constraint.check_type(schema.written_type or schema.type)
        if schema.default is not None:
            _check_default(schema, context)
    except SchemaError as error:
        found = SchemaError(
            f"Parameter '{schema.name}' is invalid: {error.message}",
            at=(SECTION, schema.name, *error.at),
            code=error.code,
            hint=error.hint,
        )
        found.hides_source = schema.hidden
        raise found from (None if schema.hidden else error)


def _check_default(schema: ParameterSchema, context: ResourceContext) -> None:
    try:
        form = to_default_form(schema.type, schema.default)
    except ValueError as error:
        raise SchemaError(str(error), at=("default",), code=DEFAULT) from error
    try:
        for constraint in schema.constraints:
            if not isinstance(constraint, CustomConstraint):
                constraint.validate(form, schema, context)
    except ValueError as error:
        shown = MASK if schema.hidden else schema.default
        reason = _describe_without_value(schema, error) if schema.hidden else error
        hint = "" if schema.hidden else getattr(error, "hint", "")
        text = f"Invalid default {shown} ({reason})"
        raise SchemaError(text, at=("default",), code=DEFAULT, hint=hint) from error


def build_cfn_pseudo(pseudo: Mapping[str, str]) -> dict[str, str]:
    """The pseudo parameters of a template in CloudFormation's notation, with HOT's values."""
    name, key, project = (
        pseudo[f"OS::{each}"] for each in ("stack_name", "stack_id", "project_id")
    )
    arn = f"arn:openstack:heat::{project}:stacks/{name}/{key}"
    return {"AWS::StackName": name, "AWS::StackId": arn, "AWS::Region": "ap-southeast-1"}


def _describe_without_value(schema: ParameterSchema, error: Exception) -> str:
    """Describe the error of a hidden value: the same text as for its mask."""
    if isinstance(error, TooLarge):
        return str(error)
    discreet = getattr(error, "discreet", "")
    if discreet:
        return str(discreet)
    try:
        CONVERSIONS[schema.type](MASK)
    except ValueError as masked:
        return str(masked)
    return "the value (hidden) does not fit its type or a constraint"


def _build_pseudo_hint(name: Any, pseudo: Mapping[str, str]) -> str:
    """Build a hint for a name that looks like a pseudo parameter and is none."""
    looks_so = isinstance(name, str) and name.startswith("OS::")
    return f"The pseudo parameters are {', '.join(pseudo)}." if looks_so else ""


def _make_invalid_fault(
    schema: ParameterSchema, error: ValueError, context: ResourceContext
) -> TemplateError:
    reason = str(error)
    hint = "" if schema.hidden else getattr(error, "hint", "")
    code = PARAMETER_CONSTRAINT if isinstance(error, Violation) else PARAMETER
    code = TooLarge.code if isinstance(error, TooLarge) else code
    if isinstance(error, ConstraintNotFound):
        code = CONSTRAINT_UNKNOWN
        hint = suggestion(error.name, cast(ConstraintContext, context).constraint_names)
    known = not isinstance(error, NotChecked)
    code = code if known else NOT_CHECKED
    if schema.hidden:
        reason = _describe_without_value(schema, error)
    found = TemplateError(
        f"Parameter '{schema.name}' is {'invalid' if known else 'not checked'}: {reason}",
        at=(SECTION, schema.name),
        code=code,
        hint=hint,
    )
    found.hides_source = schema.hidden
    return found

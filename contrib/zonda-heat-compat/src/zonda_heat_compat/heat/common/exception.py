"""The exceptions that plug-ins raise and catch, by Heat's names.

Most are a name, a parent and a sentence with places for keyword arguments; they are made from the
table at the end. What the engine acts on (``UpdateReplace``) is an error of ``zonda.hooks``.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from zonda.hooks import UpdateReplace as _UpdateReplace
from zonda.hooks import show_path

ERROR_CODE_MAP: dict[str, str] = {}


class _Given(dict[str, Any]):
    """Keyword arguments; one that is missing stays as it stands in the sentence."""

    def __missing__(self, key: str) -> str:
        return f"%({key})s"


class HeatException(Exception):
    """Base of all: ``msg_fmt % keywords`` is the text."""

    message: Any = "An unknown exception occurred."
    msg_fmt: str | None = None
    error_code: str | None = None
    safe = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.kwargs = kwargs
        self.error_code = kwargs.get("error_code", type(self).error_code)
        if self.error_code in ERROR_CODE_MAP:
            self.msg_fmt = ERROR_CODE_MAP[self.error_code]
        self.message = self._text(args)
        super().__init__(*args)

    def _text(self, args: Sequence[Any]) -> str:
        # Before 2014 the sentence stood in the class attribute ``message``.
        sentence = self.msg_fmt or type(self).message
        if args and not self.kwargs:
            return str(args[0])
        try:
            return str(sentence) % _Given(self.kwargs)
        except (TypeError, ValueError):
            return str(sentence)

    def __str__(self) -> str:
        return str(self.message)

    def __deepcopy__(self, memo: Any) -> HeatException:
        return type(self)(**self.kwargs)


OpenstackException = HeatException


class HeatExceptionWithPath(HeatException):
    """An error with the path that it was found at: ``error: path: message``."""

    def __init__(
        self, error: Any = None, path: Sequence[Any] | None = None, message: Any = None
    ) -> None:
        self.error = error or ""
        self.path = [path] if isinstance(path, str) else list(path or ())
        self.error_message = message or ""
        super().__init__()

    def _text(self, args: Sequence[Any]) -> str:
        parts = [self.error, show_path(self.path), self.error_message]
        return ": ".join(str(part) for part in parts if part)

    def __deepcopy__(self, memo: Any) -> HeatException:
        return type(self)(self.error, self.path, self.error_message)

    def args_as_dict(self) -> dict[str, Any]:
        return {"error": self.error, "path": self.path, "message": self.error_message}


class StackValidationFailed(HeatExceptionWithPath):
    """A template or a property is wrong."""

    def __init__(
        self,
        error: Any = None,
        path: Sequence[Any] | None = None,
        message: Any = None,
        resource: Any = None,
        **kwargs: Any,
    ) -> None:
        if path is None and resource is not None:
            path = ["resources", resource.name]
        super().__init__(error, path, message)
        if resource is not None:
            self.args = (error, path, message)


class ResourceFailure(HeatExceptionWithPath):
    """What went wrong with a resource, around the exception that says it."""

    def __init__(
        self,
        exception_or_error: Any,
        resource: Any,
        action: str | None = None,
        path: Sequence[Any] | None = None,
    ) -> None:
        self.resource = resource
        self.action = action or getattr(resource, "action", None)
        self.exc = exception_or_error if isinstance(exception_or_error, Exception) else None
        name = getattr(resource, "name", None)
        where = list(path or (["resources", name] if name else []))
        if isinstance(self.exc, HeatExceptionWithPath):
            super().__init__(self.exc.error, [*where, *self.exc.path], self.exc.error_message)
        elif self.exc is not None:
            super().__init__(type(self.exc).__name__, where, str(self.exc))
        else:
            super().__init__(None, where, str(exception_or_error))

    def __deepcopy__(self, memo: Any) -> HeatException:
        return self


class Error(HeatException):
    """Any failure, in the words of who raises it."""

    msg_fmt = "%(message)s"

    def __init__(self, msg: Any = "", **kwargs: Any) -> None:
        super().__init__(**{"message": msg, **kwargs})

    def __deepcopy__(self, memo: Any) -> HeatException:
        return type(self)(str(self.message))


class NotFound(HeatException):
    """Something is not there; ``msg_fmt`` may be given."""

    msg_fmt = "Not found"

    def __init__(self, msg_fmt: Any = None, **kwargs: Any) -> None:
        if msg_fmt is not None:
            self.msg_fmt = str(msg_fmt)
        super().__init__(**kwargs)


class AuthorizationFailure(HeatException):
    """The credentials do not allow it."""

    msg_fmt = "Authorization failed.%(failure_reason)s"

    def __init__(self, failure_reason: Any = "", **kwargs: Any) -> None:
        reason = f" {failure_reason}" if failure_reason else ""
        super().__init__(**{"failure_reason": reason, **kwargs})


class Forbidden(HeatException):
    """The caller may not do it."""

    msg_fmt = "You are not authorized to use %(action)s."

    def __init__(self, action: Any = "this action", **kwargs: Any) -> None:
        super().__init__(**{"action": action, **kwargs})


class NotAuthorized(Forbidden):
    """The caller may not do it."""

    msg_fmt = "You are not authorized to complete this action."


class ResourcePropertyConflict(HeatException):
    """Properties that exclude each other: their names as arguments."""

    msg_fmt = "Cannot define the following properties at the same time: %(props)s."

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args:
            kwargs["props"] = ", ".join(str(name) for name in args)
        super().__init__(**kwargs)


class PropertyUnspecifiedError(HeatException):
    """One of several properties is needed: their names as arguments."""

    msg_fmt = "One of these properties must be given at least: %(props)s."

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args:
            kwargs["props"] = ", ".join(str(name) for name in args)
        super().__init__(**kwargs)


class ResourceInError(HeatException):
    """The thing behind a resource says of itself that it is broken."""

    msg_fmt = 'Went to status %(resource_status)s due to "%(status_reason)s"'

    def __init__(self, status_reason: Any = "Unknown", **kwargs: Any) -> None:
        super().__init__(**{"status_reason": status_reason, **kwargs})


class ResourceUnknownStatus(HeatException):
    """The thing behind a resource is in a state that the plug-in does not know."""

    msg_fmt = '%(result)s - Unknown status %(resource_status)s due to "%(status_reason)s"'

    def __init__(
        self, result: Any = "Resource failed", status_reason: Any = "Unknown", **kwargs: Any
    ) -> None:
        super().__init__(**{"result": result, "status_reason": status_reason, **kwargs})


class UpdateReplace(_UpdateReplace):
    """Raised by ``handle_update``: this change needs a new resource."""

    def __init__(self, resource_name: Any = "Unknown") -> None:
        super().__init__(getattr(resource_name, "name", resource_name))


class UpdateInProgress(Exception):
    """The resource is being updated just now."""

    def __init__(self, resource_name: Any = "Unknown") -> None:
        super().__init__(f"The resource {resource_name} is already being updated.")


class HTTPExceptionDisguise(Exception):
    """Carries an exception of a web framework."""

    safe = True

    def __init__(self, exception: Exception) -> None:
        self.exc = exception
        self.tb = sys.exc_info()[2]
        super().__init__(str(exception))


def wrap_exception(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """A decorator of 2013 that reported failures; it leaves the function as it is."""

    def around(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*given: Any, **named: Any) -> Any:
            return function(*given, **named)

        return call

    return around


def _make(name: str, base: type[HeatException], sentence: str) -> None:
    body = {"__doc__": f"Heat's {name}.", "__module__": __name__, "msg_fmt": sentence}
    globals()[name] = type(name, (base,), body)


def _make_all(base: type[HeatException], sentences: Mapping[str, str]) -> None:
    for name, sentence in sentences.items():
        _make(name, base, sentence)


_make_all(
    HeatException,
    {
        "ActionInProgress": (
            "Stack %(stack_name)s already has an action (%(action)s) in progress."
        ),
        "ActionNotComplete": "Stack %(stack_name)s still has an action (%(action)s) to finish.",
        "CircularDependencyException": "Circular Dependency Found: %(cycle)s",
        "ClientNotAvailable": "There is no client %(client_name)s here.",
        "ConcurrentTransaction": "Something else changed the data during %(action)s.",
        "ConflictingMergeStrategyForParam": (
            "Conflicting merge strategy '%(strategy)s' for parameter '%(param)s' in file "
            "'%(env_file)s'."
        ),
        "DownloadLimitExceeded": "The download is larger than allowed: %(message)s",
        "EgressRuleNotAllowed": "Without Neutron and a VPC there are no egress rules.",
        "EntityNotFound": "The %(entity)s (%(name)s) could not be found.",
        "EventSendFailed": "Stack %(stack_name)s on engine %(engine_id)s took no message.",
        "ImmutableParameterModified": (
            "The following parameters are immutable and may not be updated: %(keys)s"
        ),
        "IncompatibleObjectVersion": "%(objname)s in version %(objver)s cannot be read.",
        "InterfaceAttachFailed": "Interface %(port)s was not attached to server %(server)s.",
        "InterfaceDetachFailed": "Interface %(port)s was not detached from server %(server)s.",
        "Invalid": "Data supplied was not valid: %(reason)s",
        "InvalidBreakPointHook": "%(message)s",
        "InvalidContentType": "Content of type %(content_type)s is not taken",
        "InvalidEncryptionKey": "The key of the settings does not open this data.",
        "InvalidExternalResourceDependency": (
            "Invalid dependency with external %(resource_type)s resource: %(external_id)s"
        ),
        "InvalidGlobalResource": "The definition of the type %(type_name)s cannot be loaded.",
        "InvalidMergeStrategyForParam": (
            "Invalid merge strategy '%(strategy)s' for parameter '%(param)s'."
        ),
        "InvalidRestrictedAction": "%(message)s",
        "InvalidSchemaError": "%(message)s",
        "InvalidServiceVersion": "Service %(service)s has no version %(version)s",
        "InvalidTemplateAttribute": (
            "The Referenced Attribute (%(resource)s %(key)s) is incorrect."
        ),
        "InvalidTemplateParameter": "The parameter (%(key)s) has no attributes.",
        "InvalidTemplateReference": (
            'The specified reference "%(resource)s" (in %(key)s) is incorrect.'
        ),
        "InvalidTemplateSection": "The template section is invalid: %(section)s",
        "InvalidTemplateVersion": "The template version is invalid: %(explanation)s",
        "InvalidTemplateVersions": "The alias %(version)s names no template version.",
        "InvalidTenant": "Tenant %(actual)s cannot look for tenant %(target)s.",
        "KeystoneServiceNameConflict": "Several services of keystone are named %(service)s.",
        "MissingCredentialError": "Missing required credential: %(required)s",
        "NotAuthenticated": "You are not authenticated.",
        "NotSupported": "%(feature)s is not supported.",
        "ObjectActionError": "%(action)s of an object failed because: %(reason)s",
        "ObjectFieldInvalid": "%(field)s of %(objname)s is no field",
        "OrphanedObjectError": "%(method)s cannot be called on an orphaned %(objtype)s",
        "PhysicalResourceExists": "There is a physical resource for (%(name)s) already.",
        "PhysicalResourceIDAmbiguity": "Several resources have the physical id (%(phys_id)s).",
        "PhysicalResourceNameAmbiguity": "Several physical resources are named (%(name)s).",
        "PropertyExists": "The property %(name)s is there already.",
        "ReadOnlyFieldError": "The field %(field)s is only for reading",
        "RequestLimitExceeded": "Request limit exceeded: %(message)s",
        "ResourceActionNotSupported": "%(action)s is not supported for resource.",
        "ResourceActionRestricted": "%(action)s is restricted for resource.",
        "ResourceNotAvailable": "The Resource (%(resource_name)s) is not available.",
        "ResourcePropertyDependency": "%(prop1)s cannot be specified without %(prop2)s.",
        "ResourcePropertyValueDependency": (
            "%(prop1)s can be given only where %(prop2)s is one of %(value)s."
        ),
        "ResourceTypeUnavailable": (
            "The type (%(resource_type)s) needs %(service_name)s: %(reason)s"
        ),
        "SIGHUPInterrupt": "The process was told to start again.",
        "StackExists": "The Stack (%(stack_name)s) already exists.",
        "StackResourceLimitExceeded": "The stack has as many resources as it may have.",
        "StackResourceUnavailable": "The resource %(resource_name)s is not there yet.",
        "StopActionFailed": "Stack (%(stack_name)s) was not stopped on engine %(engine_id)s.",
        "TemplateOutputError": "Error in %(resource)s output %(attribute)s: %(message)s",
        "UnableToAutoAllocateNetwork": "No network was allocated: %(message)s",
        "UnknownUserParameter": "The Parameter (%(key)s) was not defined in template.",
        "UnsupportedObjectError": "There are no objects of type %(objtype)s",
        "UserParameterMissing": "The Parameter (%(key)s) was not provided.",
        "NoAvailabilityZone": "There is no availability zone.",
        "NestedResourceFailure": "%(message)s",
        "WatchRuleNotFound": "The watch rule (%(watch_name)s) could not be found.",
    },
)
_make_all(
    globals()["EntityNotFound"],
    {
        "ResourceNotFound": (
            "The Resource (%(resource_name)s) could not be found in Stack %(stack_name)s."
        ),
        "SnapshotNotFound": "Stack %(stack)s has no snapshot (%(snapshot)s).",
        "StackNotFound": "The Stack (%(stack_name)s) could not be found.",
        "ResourceTypeNotFound": "The Resource Type (%(type_name)s) could not be found.",
        "FlavorMissing": "The Flavor ID (%(flavor_id)s) could not be found.",
        "ImageNotFound": "The Image (%(image_name)s) could not be found.",
        "KeystoneProjectNotFound": "The project (%(project)s) could not be found.",
        "KeystoneRoleNotFound": "The role (%(role)s) could not be found.",
        "KeystoneServiceNotFound": "The service (%(service)s) could not be found.",
        "NeutronSubnetNotFound": "The subnet (%(subnet)s) could not be found.",
        "NovaNetworkNotFound": "The network (%(network)s) could not be found.",
        "NetworkNotFound": "The network (%(network)s) could not be found.",
        "ServerNotFound": "The server (%(server)s) could not be found.",
        "SaharaImageNotFound": "The image (%(image)s) could not be found.",
        "UserKeyPairMissing": "The Key (%(key_name)s) could not be found.",
        "VolumeNotFound": "The volume (%(volume)s) could not be found.",
        "VolumeSnapshotNotFound": "The volume snapshot (%(snapshot)s) could not be found.",
        "SoftwareConfigMissing": "The config (%(software_config_id)s) could not be found.",
    },
)
_make("ImageNameAmbiguity", globals()["PhysicalResourceNameAmbiguity"], "%(name)s is no one image.")
_make("PhysicalResourceNotFound", globals()["EntityNotFound"], "There is no (%(resource_id)s).")


def __getattr__(name: str) -> Any:
    raise AttributeError(f"heat.common.exception of zonda-heat-compat has no {name}")

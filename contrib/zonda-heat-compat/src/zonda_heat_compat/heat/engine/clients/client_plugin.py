"""The base of client plug-ins: one for each service that plug-ins talk to."""

from __future__ import annotations

import abc
import functools
import sys
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import Any

from heat.common import config


class ExceptionFilter:
    """Swallows some exceptions: ``with plugin.ignore_not_found:``, or called with one."""

    def __init__(self, should_ignore: Callable[[BaseException], Any]) -> None:
        self._should_ignore = should_ignore

    def __call__(self, error: BaseException) -> None:
        """Raise ``error`` again, unless it is to be ignored."""
        if not self._should_ignore(error):
            raise error

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        return error is not None and bool(self._should_ignore(error))


class exception_filter:
    """A method that says whether an exception is to be ignored, as an ``ExceptionFilter``."""

    def __init__(self, should_ignore: Callable[..., Any]) -> None:
        self._should_ignore = should_ignore
        functools.update_wrapper(self, should_ignore)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return ExceptionFilter(functools.partial(self._should_ignore, instance))

    def __call__(self, *given: Any) -> Any:
        return ExceptionFilter(functools.partial(self._should_ignore, *given[:-1]))(given[-1])


class ClientPlugin(abc.ABC):
    """Makes the client of a service, and knows its exceptions."""

    #: A module, or several, whose exceptions the client raises.
    exceptions_module: Any = None
    service_types: Any = ()
    supported_versions: Any = ()
    default_version: Any = None

    def __init__(self, context: Any) -> None:
        self._context = context
        self._clients: Any = getattr(context, "clients", None)
        self._client_instances: dict[Any, Any] = {}

    @property
    def context(self) -> Any:
        """Who asks."""
        return self._context() if isinstance(self._context, weakref.ref) else self._context

    @property
    def exceptions(self) -> Any:
        """The module of exceptions, by the name that some of Heat's files use."""
        return self.exceptions_module

    @property
    def clients(self) -> Any:
        """The other clients."""
        return self._clients

    def client(self, version: Any = None) -> Any:
        """The client, made once for each version."""
        wanted = version or self.default_version
        if wanted not in self._client_instances:
            self._client_instances[wanted] = self._made(wanted)
        return self._client_instances[wanted]

    def _made(self, version: Any) -> Any:
        code = getattr(type(self)._create, "__code__", None)
        if code is not None and code.co_argcount < 2:  # before 2015 there was one version
            return self._create()
        return self._create(version=version) if version is not None else self._create()

    @abc.abstractmethod
    def _create(self, version: Any = None) -> Any:
        """Make a client."""

    def _get_client_option(self, client: str, option: str) -> Any:
        """A setting of Heat's."""
        return config.get_client_option(client, option)

    def _get_region_name(self) -> Any:
        return getattr(self.context, "region_name", None)

    def url_for(self, **kwargs: Any) -> Any:
        """The address of a service, by the session of the context."""
        kind = kwargs.pop("endpoint_type", None)
        if kind is not None:
            kwargs.setdefault("interface", kind)
        kwargs.setdefault("region_name", self._get_region_name())
        found = self.context.keystone_session.get_endpoint(**kwargs)
        if found is None:
            from keystoneauth1 import exceptions  # who has a session has the library

            raise exceptions.EndpointNotFound()
        return found

    def is_client_exception(self, ex: BaseException) -> bool:
        """Whether the client raised it."""
        if self.exceptions_module is None:
            return False
        known = self.exceptions_module
        modules = known if isinstance(known, list | tuple) else [known]
        names = {getattr(module, "__name__", None) for module in modules}
        return type(ex).__module__ in names

    def is_not_found(self, ex: BaseException) -> bool:
        """Whether it says that something is not there."""
        return False

    def is_over_limit(self, ex: BaseException) -> bool:
        """Whether it says that there were too many requests."""
        return False

    def is_conflict(self, ex: BaseException) -> bool:
        """Whether it says that something else is in the way."""
        return False

    @exception_filter
    def ignore_not_found(self, ex: BaseException) -> bool:
        """Whether ``ex`` may be ignored while something is deleted."""
        return self.is_not_found(ex)

    @exception_filter
    def ignore_conflict_and_not_found(self, ex: BaseException) -> bool:
        """Whether ``ex`` may be ignored while something is deleted and may be asked for again."""
        return self.is_conflict(ex) or self.is_not_found(ex)

    def does_endpoint_exist(self, service_type: str, service_name: str) -> bool:
        """Whether a service is there; what has no catalogue has every service."""
        session = self.context.keystone_session
        return session is None or session.get_endpoint(service_type=service_type) is not None


def retry_if_connection_err(exception: BaseException) -> bool:
    return isinstance(exception, ConnectionError)


def retry_if_result_is_false(result: Any) -> bool:
    return result is False


def current() -> BaseException | None:
    """The exception that is being handled."""
    return sys.exc_info()[1]

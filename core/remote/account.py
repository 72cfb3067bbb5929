"""The account at a server: its address, and what proves whose the requests are."""

from __future__ import annotations

from typing import Any

from zonda.core.settings.settings import read_variable
from zonda.core.settings.table import Settings
from zonda.core.system.addresses import is_loopback
from zonda.hooks.errors import UsageError
from zonda.hooks.http import origin
from zonda.hooks.records import dataclass, field

#: Variables of OpenStack's clients of which one says where tokens come from.
_CLOUDS = ("OS_CLOUD", "OS_AUTH_URL")


@dataclass(slots=True)
class Account:
    """An account. ``project``: where the server does not bind the caller to one."""

    url: str
    project: str
    token: str = field(default="", repr=False)
    ca_bundle: str = ""

    def fetch_token(self) -> str:
        """The token, '' for none."""
        return self.token

    def forget_token(self, token: str) -> bool:
        """Forget a token that was refused; return whether another one may be had."""
        return False


@dataclass(slots=True)
class CloudAccount(Account):
    """An account at Keystone, as OpenStack's clients have it: ``clouds.yaml`` and ``OS_*``."""

    _session: Any = field(default=None, repr=False)

    def fetch_token(self) -> str:
        """The token of Keystone; raises UsageError where it gives none."""
        from keystoneauth1.exceptions import ClientException
        from openstack.exceptions import ConfigException

        try:
            if self._session is None:
                self._session = _open_session()
            return str(self._session.get_token() or "")
        except (ClientException, ConfigException) as error:
            raise UsageError(
                f"OpenStack's identity service gives no token: {error}",
                hint="Check OS_CLOUD and clouds.yaml, or the variables OS_*.",
            ) from error

    def forget_token(self, token: str) -> bool:
        """Forget the token: the next one is a new one."""
        return bool(self._session.invalidate())


def _open_session() -> Any:
    from openstack.config import get_cloud_region

    return get_cloud_region(app_name="zonda").get_session()


def _check_exposure(url: str) -> None:
    """Raise UsageError where a token would leave this machine without TLS."""
    scheme, _, host = origin(url).rpartition(":")[0].partition("://")
    if scheme == "http" and not is_loopback(host):
        raise UsageError(
            f"The token would travel in plain text to {host}.",
            hint="Write the setting url with https://, or set insecure_http to yes.",
        )


def choose_account(settings: Settings) -> Account:
    """The account of the settings: their token, else one of Keystone where variables name it.

    Raises UsageError where it cannot be used, or strangers could read the token on its way.
    """
    given = (settings.url, settings.project, settings.token, settings.url_ca_bundle)
    has_cloud = not settings.token and any(map(read_variable, _CLOUDS))
    if (settings.token or has_cloud) and settings.insecure_http == "no":
        _check_exposure(settings.url)
    if not has_cloud:
        return Account(*given)
    try:
        import openstack.config  # noqa: F401  # it is used once there is something to ask
    except ImportError as error:
        raise UsageError(
            f"What a token of OpenStack needs is not installed: {error.name}.",
            hint="pip install 'zonda[keystone]', or set ZONDA_TOKEN.",
        ) from error
    return CloudAccount(*given)

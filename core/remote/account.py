"""The account at a server: its address, and what proves whose the requests are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from zonda.core.settings.settings import read_variable
from zonda.core.settings.table import Settings
from zonda.hooks.errors import UsageError

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


def choose_account(settings: Settings) -> Account:
    """The account of the settings: their token, else one of Keystone where variables name it."""
    given = (settings.url, settings.project, settings.token, settings.url_ca_bundle)
    if settings.token or not any(map(read_variable, _CLOUDS)):
        return Account(*given)
    try:
        import openstack.config  # noqa: F401  # it is used once there is something to ask
    except ImportError as error:
        raise UsageError(
            f"What a token of OpenStack needs is not installed: {error.name}.",
            hint="pip install 'zonda[keystone]', or set ZONDA_TOKEN.",
        ) from error
    return CloudAccount(*given)

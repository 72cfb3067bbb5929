"""Resources that receive signals. In zonda they come by ``zonda stack resource signal``.

So there is no URL to sign and no queue to empty: what asks for one is given nothing.
"""

from __future__ import annotations

from typing import Any

from heat.engine.resources import stack_user

SIGNAL_TYPES = (WAITCONDITION, SIGNAL) = ("/waitcondition", "/signal")
SIGNAL_VERB = {WAITCONDITION: "PUT", SIGNAL: "POST"}


class SignalResponder(stack_user.StackUser):
    """A resource with ``handle_signal``."""

    PROPERTIES = (SIGNAL_TRANSPORT,) = ("signal_transport",)
    SIGNAL_TRANSPORTS = (
        CFN_SIGNAL,
        TEMP_URL_SIGNAL,
        HEAT_SIGNAL,
        NO_SIGNAL,
        ZAQAR_SIGNAL,
        TOKEN_SIGNAL,
    ) = (
        "CFN_SIGNAL",
        "TEMP_URL_SIGNAL",
        "HEAT_SIGNAL",
        "NO_SIGNAL",
        "ZAQAR_SIGNAL",
        "TOKEN_SIGNAL",
    )
    requires_deferred_auth = True

    def handle_delete(self) -> Any:
        self._delete_signals()
        return super().handle_delete()

    def _transport(self) -> Any:
        return self.properties.get(self.SIGNAL_TRANSPORT)

    def _signal_transport_cfn(self) -> bool:
        return bool(self._transport() == self.CFN_SIGNAL)

    def _signal_transport_heat(self) -> bool:
        return self._transport() in (self.HEAT_SIGNAL, self.TOKEN_SIGNAL)

    def _signal_transport_none(self) -> bool:
        return bool(self._transport() == self.NO_SIGNAL)

    def _signal_transport_temp_url(self) -> bool:
        return bool(self._transport() == self.TEMP_URL_SIGNAL)

    def _signal_transport_zaqar(self) -> bool:
        return bool(self._transport() == self.ZAQAR_SIGNAL)

    @property
    def password(self) -> Any:
        """The password of the user, which nobody made."""
        return self.data().get("password")

    @password.setter
    def password(self, password: Any) -> None:
        if password is None:
            self.data_delete("password")
        else:
            self.data_set("password", password, True)

    def _get_signal(self, signal_type: str = SIGNAL, multiple_signals: bool = False) -> Any:
        return None

    def _get_heat_signal_credentials(self) -> dict[str, Any]:
        return {"project_id": self.stack.tenant_id}

    def _get_heat_signal_url(self, project_id: Any = None) -> str:
        """Not a URL: who signals it names the resource."""
        return str(self.name)

    def _get_ec2_signed_url(self, signal_type: str = SIGNAL, **named: Any) -> str:
        """Not a URL: who signals it names the resource."""
        return str(self.name)

    _get_signed_url = _get_ec2_signed_url

    def _get_swift_signal_url(self, multiple_signals: bool = False) -> str:
        """Not a URL: who signals it names the resource."""
        return str(self.name)

    def _get_zaqar_signal_queue_id(self) -> Any:
        return None

    def _delete_signals(self) -> None:
        """Nothing is there."""

    _delete_ec2_signed_url = _delete_heat_signal_url = _delete_swift_signal_url = _delete_signals
    _delete_zaqar_signal_queue = _delete_signed_url = _delete_signals

    def _service_signal(self) -> None:
        """Signals come by themselves."""

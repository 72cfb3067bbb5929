"""Rules about who may call: signatures and credentials. Tried only where the check has them."""

from __future__ import annotations

from dataclasses import replace

from zonda.hooks import Clock
from zonda.hooks.conformance import NotApplicable

from ..client.webhook_signature import TOLERANCE
from .trial import Trial

_NO_KEY = "no --signing-key is given"
_VERIFY = "Compute the signature (HMAC-SHA256 over webhook-id.webhook-timestamp.body) and compare"
#: Keys that no endpoint has.
_STRANGE = (b"a key that nobody has",)


class _DelayedClock:
    """A clock that is behind."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds

    def now(self) -> float:
        """The time some seconds ago."""
        return self._clock.now() - self._seconds

    def monotonic(self) -> float:
        """As the clock says."""
        return self._clock.monotonic()


def _require_signing_key(trial: Trial) -> None:
    if not trial.probe.settings.signing_keys and not trial.probe.settings.message_keys:
        raise NotApplicable(_NO_KEY)


def _require_webhook_key(trial: Trial) -> None:
    _require_signing_key(trial)
    if not trial.probe.settings.signing_keys:
        raise NotApplicable("tried with Standard Webhooks only, not with RFC 9421")


def check_right_signature(trial: Trial) -> None:
    """A signed request is taken; without this the rules before would have failed."""
    _require_signing_key(trial)


def check_wrong_signature(trial: Trial) -> None:
    """A signature with a strange key is refused."""
    _require_webhook_key(trial)
    settings = replace(trial.probe.settings, signing_keys=_STRANGE)
    trial.check_refused(settings, "a signature that is wrong", _VERIFY)


def check_no_signature(trial: Trial) -> None:
    """A request that is not signed is refused."""
    _require_signing_key(trial)
    settings = replace(trial.probe.settings, signing_keys=(), message_keys={})
    trial.check_refused(settings, "a request that is not signed", _VERIFY)


def check_old_signature(trial: Trial) -> None:
    """A recorded request cannot be sent again later."""
    _require_signing_key(trial)
    earlier = _DelayedClock(trial.probe.clock, 2 * TOLERANCE)
    settings = replace(trial.probe.settings, clock=earlier)
    trial.check_refused(
        settings,
        f"a signature that is {2 * TOLERANCE / 60:g} minutes old",
        f"Refuse a webhook-timestamp that is more than {TOLERANCE / 60:g} minutes away",
    )


def check_two_signatures(trial: Trial) -> None:
    """While keys change, one of several signatures is enough."""
    _require_webhook_key(trial)
    keys = (*_STRANGE, *trial.probe.settings.signing_keys)
    operation = trial.create()
    reply = trial.probe.send_once(
        operation, settings=replace(trial.probe.settings, signing_keys=keys)
    )
    trial.keep_outcome(operation, trial.probe.outcome(operation, reply))


def check_credentials(trial: Trial) -> None:
    """A request without the credentials is refused."""
    known = trial.probe.settings
    if not known.headers and known.oauth2 is None:
        raise NotApplicable("no --token and no --header is given")
    settings = replace(known, headers={}, oauth2=None)
    trial.check_refused(
        settings, "a request without credentials", "Check them before anything else"
    )

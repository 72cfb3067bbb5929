"""The identity that the settings choose."""

from __future__ import annotations

from zonda.core.app.app import App
from zonda.core.settings.project_grants import ProjectGrants, check_project_ids
from zonda.hooks.errors import UsageError

from .callers import Identity
from .no_identity import NoIdentity

#: The file of tokens, in the home.
TOKENS = "tokens.toml"


def choose_identity(app: App) -> Identity:
    """The identity of mode ``none``, ``tokens`` or ``keystone``; raises UsageError."""
    settings = app.settings
    if settings.local_identity == "yes":
        from .local_identity import LocalIdentity

        if settings.identity != "tokens":
            raise UsageError("local_identity needs identity = tokens.")
        keys = app.store.sealer.derive_keys("login")
        return LocalIdentity(settings.home / TOKENS, app.clock, keys, app.ids)
    if settings.identity == "tokens":
        from .tokens import Tokens

        return Tokens(settings.home / TOKENS, app.clock)
    if settings.identity == "keystone":
        from zonda.hooks.http.config import check_bundle

        from .keystone import Account, Keystone

        if not settings.keystone_url:
            raise UsageError("Set keystone_url to the URL of Keystone, e.g. http://HOST:5000/v3.")
        account = Account(
            settings.keystone_url,
            settings.keystone_username,
            settings.keystone_password,
            settings.keystone_project,
            settings.keystone_domain,
            check_bundle(settings.keystone_ca_bundle),
        )
        return Keystone(account, app.clock)
    return NoIdentity(settings.user, settings.project)


def choose_grants(app: App) -> ProjectGrants | None:
    """The grants of projects, by the settings; None in mode ``none``: all may use all.

    Raises UsageErrors for grants to what is no project of Keystone.
    """
    settings = app.settings
    if settings.identity == "keystone":
        check_project_ids(settings)
    return None if settings.identity == "none" else ProjectGrants(settings)

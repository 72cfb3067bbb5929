"""The decryption of what ansible-vault has encrypted: the texts of a question, and files it names.

Called by ``tasks``. Passwords are that of the host and those of the files that Ansible's settings
name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..vault import MARK, PASSWORD


def decrypt(question: Mapping[str, Any], loader: Any) -> dict[str, Any]:
    """A question with its texts decrypted; ``loader`` decrypts files from now on.

    Raises AnsibleError where no password fits.
    """
    variables = dict(question["variables"])
    loader.set_vault_secrets(_load_secrets(variables.pop(PASSWORD, None), loader))
    found = {"variables": variables, "options": question["options"]}
    return {**question, **{name: _decrypt(each, loader) for name, each in found.items()}}


def _load_secrets(password: str | None, loader: Any) -> list[tuple[str, Any]]:
    from ansible import constants
    from ansible.parsing.vault import VaultSecret, get_file_vault_secret

    found = [] if password is None else [("host", VaultSecret(password.strip().encode()))]
    files = [entry.rpartition("@") for entry in constants.DEFAULT_VAULT_IDENTITY_LIST]
    if constants.DEFAULT_VAULT_PASSWORD_FILE:
        files.append(("settings", "@", constants.DEFAULT_VAULT_PASSWORD_FILE))
    for name, _, file in files:
        if not file.startswith("prompt"):  # nobody is there to be asked
            secret = get_file_vault_secret(file, vault_id=name or None, loader=loader)
            secret.load()
            found.append((name or "settings", secret))
    return found


def _decrypt(value: Any, loader: Any) -> Any:
    if isinstance(value, list):
        return [_decrypt(each, loader) for each in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {MARK}:
        return _decrypt_text(value[MARK], loader)
    return {name: _decrypt(each, loader) for name, each in value.items()}


def _decrypt_text(text: str, loader: Any) -> str:
    from ansible.errors import AnsibleError
    from ansible.parsing.vault import AnsibleVaultError, VaultLib

    secrets = loader._vault.secrets
    if not secrets:
        raise AnsibleError("a text is encrypted by ansible-vault: give the host its vault_password")
    try:
        decrypted: bytes = VaultLib(secrets).decrypt(text.strip().encode())
    except AnsibleVaultError as error:
        raise AnsibleError(
            "a text that ansible-vault has encrypted cannot be decrypted: is the vault_password of "
            f"the host another one? ({error})"
        ) from None
    try:
        return decrypted.decode()
    except UnicodeDecodeError:
        raise AnsibleError("what ansible-vault has encrypted is no text: use a file") from None

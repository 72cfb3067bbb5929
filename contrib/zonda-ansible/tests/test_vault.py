"""Secrets of ansible-vault are decrypted where modules are run, and seen nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.parsing.vault import VaultLib, VaultSecret
from commands import Zonda
from lives import is_in_sync, make_life
from zonda.hooks import ResourceFailure, compare_live_state

from zonda_ansible.vault import MARK, mark_options

PASSWORD = "s3cr3t-of-the-vault"
SECRET = "s3cr3t-inside"
#: Writes down what anybody may see of all processes, and its secret.
MODULE = """
DOCUMENTATION = '''
module: keep
short_description: Keeps a secret
description: [Keeps a secret.]
options:
  path: {description: Where., type: path, required: true}
  seen: {description: What was seen., type: path}
  token: {description: A secret., type: str}
  state: {description: What., type: str, choices: [present, absent], default: present}
'''
import glob, os
from ansible.module_utils.basic import AnsibleModule

def main():
    module = AnsibleModule(dict(
        path=dict(type='path', required=True), seen=dict(type='path'),
        token=dict(type='str', no_log=True),
        state=dict(choices=['present', 'absent'], default='present')), supports_check_mode=True)
    path, token = module.params['path'], module.params['token']
    wanted = token if module.params['state'] == 'present' else None
    there = open(path).read() if os.path.exists(path) else None
    if there != wanted and not module.check_mode:
        if wanted is None:
            os.remove(path)
        else:
            open(path, 'w').write(token)
    if module.params['seen']:
        with open(module.params['seen'], 'ab') as seen:
            for file in glob.glob('/proc/[0-9]*/cmdline') + glob.glob('/proc/[0-9]*/environ'):
                try:
                    seen.write(open(file, 'rb').read())
                except OSError:
                    pass
    module.exit_json(changed=there != wanted, said=f'it was {there}, it is {token}')

if __name__ == '__main__':
    main()
"""


def encrypt(text: str, password: str = PASSWORD) -> str:
    vault = VaultLib([("default", VaultSecret(password.encode()))])
    return vault.encrypt(text).decode()


def test_hidden_texts_alone_are_marked() -> None:
    sealed = "$ANSIBLE_VAULT;1.1;AES256\n00\n"
    secret = {"no_log": True}
    options = {"a": {}, "b": secret, "c": {"options": {"d": secret, "e": {}}}, "f": secret}
    found = mark_options(
        {"a": sealed, "b": sealed, "c": [{"d": sealed, "e": sealed}], "f": {"g": [sealed, 1]}},
        options,
    )
    marked = {MARK: sealed}
    expected: dict[str, Any] = {"a": sealed, "b": marked, "c": [{"d": marked, "e": sealed}]}
    assert found == {**expected, "f": {"g": [marked, 1]}}


def test_a_stack_with_encrypted_texts_and_files(collection: Path, tmp_path: Path) -> None:
    (collection / "plugins" / "modules" / "keep.py").write_text(MODULE)
    made, seen, copied, rendered = (tmp_path / name for name in ("made", "seen", "copied", "page"))
    (tmp_path / "source").write_text(encrypt(f"file {SECRET}\n"))
    (tmp_path / "page.j2").write_text("page {{ inside }}\n")
    on = {"ansible_on": {"get_attr": ["host", "connection"]}}
    kinds = {
        "acme.tools.keep": {"path": str(made), "seen": str(seen), "token": {"get_file": "token"}},
        "ansible.builtin.copy": {"src": str(tmp_path / "source"), "dest": str(copied)},
        "ansible.builtin.template": {"src": str(tmp_path / "page.j2"), "dest": str(rendered)},
    }
    host = {
        "vault_password": {"get_param": "vault"},
        "hidden_variables": {"inside": {"get_file": "token"}},
    }
    template = {
        "heat_template_version": "2018-08-31",
        "parameters": {"vault": {"type": "string", "hidden": True}},
        "resources": {
            "host": {"type": "Zonda::Ansible::Host", "properties": host},
            **{
                kind.rpartition(".")[2]: {
                    "type": f"Ansible::{kind}",
                    "properties": {**on, **given},
                }
                for kind, given in kinds.items()
            },
        },
    }
    (tmp_path / "token").write_text(encrypt(SECRET))
    (tmp_path / "template.yaml").write_text(yaml.safe_dump(template))
    (tmp_path / "secret.yaml").write_text(yaml.safe_dump({"parameters": {"vault": PASSWORD}}))
    given = ["-t", str(tmp_path / "template.yaml"), "-e", str(tmp_path / "secret.yaml")]
    zonda = Zonda(tmp_path, given)
    zonda.run_with_template("plan", "s")
    zonda.run_with_template("create", "s", "--debug")
    assert made.read_text() == SECRET
    assert copied.read_text() == f"file {SECRET}\n"
    assert rendered.read_text() == f"page {SECRET}\n"
    zonda.run("drift", "check", "s", "--debug")
    for file in (made, copied, rendered):
        file.write_text("by hand")
    said = zonda.run("drift", "check", "s", code=3)
    assert f"{copied} has another content" in said
    zonda.run("drift", "repair", "s", "--debug")
    assert made.read_text() == SECRET
    zonda.run("show", "s", "-f", "json")
    zonda.run("event", "list", "s", "-f", "json")
    zonda.run("delete", "s", "-y", "--debug")
    assert not any(file.exists() for file in (made, copied, rendered))
    shown = seen.read_bytes()  # of all processes: other tests have secrets of their own
    assert b"zonda_ansible.agent" in shown
    assert [each for each in (PASSWORD, SECRET) if each.encode() in shown] == []
    for file in (tmp_path / "zonda").rglob("*"):
        assert not file.is_file() or b"s3cr3t" not in file.read_bytes(), file


@pytest.mark.parametrize(
    ("on", "reason"),
    [
        pytest.param({"vault_password": "s3cr3t-wrong"}, "is the vault_password of", id="wrong"),
        pytest.param({}, "give the host its vault_password", id="none"),
    ],
)
def test_a_text_that_cannot_be_decrypted_is_told(
    on: dict[str, str], reason: str, collection: Path, tmp_path: Path
) -> None:
    (collection / "plugins" / "modules" / "keep.py").write_text(MODULE)
    path = tmp_path / "made"
    given = {"path": str(path), "token": encrypt(SECRET), "ansible_on": on}
    life = make_life("acme.tools.keep", given)
    with pytest.raises(ResourceFailure, match=reason) as raised:
        life.create()
    assert "s3cr3t" not in str(raised.value)
    assert not path.exists()


def test_an_encrypted_option_that_is_no_text_is_told(collection: Path, tmp_path: Path) -> None:
    (collection / "plugins" / "modules" / "keep.py").write_text(MODULE)
    sealed = VaultLib([("default", VaultSecret(PASSWORD.encode()))]).encrypt(b"\xff\xfe").decode()
    on = {"vault_password": PASSWORD}
    life = make_life(
        "acme.tools.keep", {"path": str(tmp_path / "made"), "token": sealed, "ansible_on": on}
    )
    with pytest.raises(ResourceFailure, match="is no text: use a file"):
        life.create()


@pytest.mark.parametrize("on", [{"vault_password": "s3cr3t-wrong"}, {}], ids=["wrong", "none"])
def test_a_file_that_cannot_be_decrypted_is_told(on: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "source").write_text(encrypt(SECRET))
    given = {"src": str(tmp_path / "source"), "dest": str(tmp_path / "made"), "ansible_on": on}
    life = make_life("ansible.builtin.copy", given)
    with pytest.raises(ResourceFailure, match=r"(?i)vault") as raised:
        life.create()
    assert "s3cr3t" not in str(raised.value)


def test_what_changes_by_hand_is_not_told_of_an_encrypted_file(tmp_path: Path) -> None:
    (tmp_path / "source").write_text(encrypt(SECRET))
    on = {"vault_password": PASSWORD}
    given = {"src": str(tmp_path / "source"), "dest": str(tmp_path / "made"), "ansible_on": on}
    life = make_life("ansible.builtin.copy", given)
    life.create()
    assert is_in_sync(life)
    (tmp_path / "made").write_text("by hand")
    assert not is_in_sync(life)
    compared = compare_live_state(life.instance().properties, life.live_state() or {})
    assert SECRET not in str((life.live_state(), compared))


@pytest.mark.parametrize(
    ("variable", "files"),
    [
        ("ANSIBLE_VAULT_PASSWORD_FILE", "{0}/password"),
        ("ANSIBLE_VAULT_IDENTITY_LIST", "old@{0}/other,new@{0}/password,ask@prompt"),
    ],
)
def test_password_files_of_ansibles_settings(variable: str, files: str, tmp_path: Path) -> None:
    (tmp_path / "password").write_text(f"{PASSWORD}\n")
    (tmp_path / "other").write_text("another\n")
    (tmp_path / "source").write_text(encrypt(SECRET))
    made = tmp_path / "made"
    template = {
        "heat_template_version": "2018-08-31",
        "resources": {
            "copy": {
                "type": "Ansible::ansible.builtin.copy",
                "properties": {"src": str(tmp_path / "source"), "dest": str(made)},
            }
        },
    }
    (tmp_path / "template.yaml").write_text(yaml.safe_dump(template))
    given = ["-t", str(tmp_path / "template.yaml")]
    zonda = Zonda(tmp_path, given, **{variable: files.format(tmp_path)})
    zonda.run_with_template("create", "s")
    assert made.read_text() == SECRET
    zonda.run("delete", "s", "-y")

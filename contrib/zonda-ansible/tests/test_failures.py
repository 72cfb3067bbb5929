"""Modules and machines that misbehave: a reason, never a traceback, and nothing that hangs."""

from __future__ import annotations

import contextlib
import json
import os
import select
import threading
from pathlib import Path
from typing import Any

import pytest
from lives import is_in_sync, make_life
from zonda.hooks import ResourceFailure, ValidationErrors
from zonda.hooks.runners.waking import Waker, keep_waker

from zonda_ansible import agents
from zonda_ansible.index import load_index
from zonda_ansible.lives import life_cycles, runs
from zonda_ansible.types import make_type

HEAD = """
DOCUMENTATION = '''
module: odd
short_description: Misbehaves
description: [Misbehaves.]
options:
  name: {description: The name., type: str}
  token: {description: A secret., type: str}
  state: {description: What., type: str, choices: [present, deleted]}
'''
"""
SPEC = (
    "from ansible.module_utils.basic import AnsibleModule\n"
    "import os, sys, time\n"
    "def main():\n"
    "    module = AnsibleModule(dict(name=dict(type='str'), "
    "        state=dict(choices=['present', 'deleted']),\n"
    "        token=dict(type='str', no_log=True)), supports_check_mode=%s)\n"
    "    given = module.params\n"
    "    %s\n"
    "if __name__ == '__main__':\n"
    "    main()\n"
)


def write(collection: Path, body: str, *, check: bool = True) -> None:
    text = HEAD + SPEC % (check, body)
    (collection / "plugins" / "modules" / "odd.py").write_text(text)


def fail_to_create(**given: Any) -> str:
    life = make_life("acme.tools.odd", {"name": "x", **given})
    with pytest.raises(ResourceFailure) as raised:
        life.create()
    return str(raised.value)


def test_an_operation_is_woken_when_its_module_ends(collection: Path) -> None:
    write(collection, "module.exit_json(changed=True)")
    ended = threading.Event()
    with keep_waker(Waker(ended.set)):
        make_life("acme.tools.odd", {"name": "x"}).create()
    assert ended.wait(60)


def test_garbage_is_a_failure(collection: Path) -> None:
    write(collection, "os.write(1, b'\\xff{\\x00 garbage'); os._exit(0)")
    assert "acme.tools.odd on this machine" in fail_to_create()


def test_a_module_that_hangs_is_ended(collection: Path, tmp_path: Path) -> None:
    file = tmp_path / "pid"
    write(collection, f"open({str(file)!r}, 'w').write(str(os.getpid())); time.sleep(3600)")
    assert "did not end in its time and was ended" in fail_to_create(ansible_timeout=4)
    with contextlib.suppress(ProcessLookupError):
        handle = os.pidfd_open(int(file.read_text()))
        assert select.select([handle], [], [], 60)[0], "it goes on"
        os.close(handle)


def test_the_reason_of_a_module_is_told_without_its_secrets(collection: Path) -> None:
    write(collection, "module.fail_json(msg='no: ' + given['token'])")
    said = fail_to_create(token="s3cr3t-value")
    assert "no: " in said
    assert "s3cr3t" not in said


def test_what_a_module_says_twice_is_told_once(collection: Path) -> None:
    write(collection, "module.fail_json(msg='no\\r\\nway', stderr='no\\r\\nway\\r\\n', rc=3)")
    assert fail_to_create() == "acme.tools.odd on this machine: no\nway"


def test_a_module_without_check_mode_cannot_be_looked_at(collection: Path) -> None:
    write(collection, "module.exit_json(changed=True)", check=False)
    life = make_life("acme.tools.odd", {"name": "x"})
    life.create()
    with pytest.raises(ResourceFailure, match="has no check mode"):
        life.live_state()


def test_what_could_not_be_made_is_removed_where_its_module_fails_for_the_same_reason(
    collection: Path,
) -> None:
    write(collection, "module.fail_json(msg='there is no service x')")
    life = make_life("acme.tools.odd", {"name": "x"})
    with pytest.raises(ResourceFailure, match="no service"):
        life.create()
    life.delete()


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("module.fail_json(msg=f'not {given[\"state\"]}')", id="for another reason"),
        pytest.param(
            "module.fail_json(msg='no', changed=given['state'] != 'deleted')", id="half made"
        ),
    ],
)
def test_what_may_have_been_made_is_not_taken_for_removed(collection: Path, body: str) -> None:
    write(collection, body)
    life = make_life("acme.tools.odd", {"name": "x"})
    with pytest.raises(ResourceFailure):
        life.create()
    with pytest.raises(ResourceFailure):
        life.delete()


def test_what_was_made_once_is_not_taken_for_removed(collection: Path) -> None:
    taken = "module.fail_json(msg='the lock is taken')"
    is_made = "not given['token'] and given['state'] != 'deleted'"
    write(collection, f"module.exit_json(changed=True) if {is_made} else {taken}")
    life = make_life("acme.tools.odd", {"name": "x"})
    life.create()
    with pytest.raises(ResourceFailure):
        life.update({"name": "x", "token": "t"})
    with pytest.raises(ResourceFailure, match="the lock is taken"):
        life.delete()


def test_a_large_difference_is_shortened(collection: Path) -> None:
    write(
        collection,
        "module.exit_json(changed=module.check_mode, big='y' * 10**7,"
        " diff=dict(before={'a': 'x' * 10**7}, after={'a': 'y' * 10**7}))",
    )
    life = make_life("acme.tools.odd", {"name": "x"})
    life.create()
    assert len(json.dumps(life.attribute("ansible_result"))) < 1_100_000
    assert not is_in_sync(life)


def test_another_word_for_absent_is_found(collection: Path, tmp_path: Path) -> None:
    write(
        collection,
        "p = given['name']; (os.remove if given['state'] == 'deleted' else "
        "(lambda q: open(q, 'w').close()))(p); module.exit_json(changed=True)",
    )
    path = tmp_path / "thing"
    life = make_life("acme.tools.odd", {"name": str(path)})
    life.create()
    assert path.exists()
    life.delete()
    assert not path.exists()


def test_a_process_that_is_killed_is_run_again(collection: Path, tmp_path: Path) -> None:
    marker = tmp_path / "killed"
    write(
        collection,
        f"p = {str(marker)!r}\n    if not os.path.exists(p):\n"
        "        open(p, 'w').close()\n"
        "        import signal; os.killpg(os.getpgid(0), signal.SIGKILL)\n"
        "    module.exit_json(changed=False)",
    )
    life = make_life("acme.tools.odd", {"name": "x"})
    life.create()
    assert life.attribute("ansible_changed") is False


def test_an_unreachable_host_is_tried_and_told() -> None:
    on = {"address": "127.0.0.1", "port": 1, "user": "nobody"}
    life = make_life("ansible.builtin.ping", {"ansible_on": on})
    with pytest.raises(ResourceFailure, match=r"127\.0\.0\.1:1 cannot be reached: .*refused"):
        life.create()


def test_an_agent_that_was_killed_is_started_again(tmp_path: Path) -> None:
    given = {"path": str(tmp_path / "one"), "state": "touch"}
    make_life("ansible.builtin.file", given).create()
    agent = agents.get_agent(load_index().fingerprint)
    agent._process.kill()
    agent._process.wait()
    life = make_life("ansible.builtin.file", {**given, "state": "absent"})
    life.create()
    assert not (tmp_path / "one").exists()


def test_a_collection_that_has_gone_says_so(collection: Path) -> None:
    write(collection, "module.exit_json(changed=False)")
    assert "acme.tools.odd" in load_index().modules
    (collection / "plugins" / "modules" / "odd.py").write_text("DOCUMENTATION = '''[broken'''")
    life = make_life("acme.tools.odd", {})
    with pytest.raises(ValidationErrors, match=r"acme\.tools\.odd cannot be used"):
        life.validate()


def test_another_version_of_a_collection_is_told(collection: Path) -> None:
    write(collection, "module.exit_json(changed=False)")
    life = make_life("acme.tools.odd", {"name": "x"})
    life.create()
    manifest = {"collection_info": {"version": "2.0.0-longer"}}
    (collection / "MANIFEST.json").write_text(json.dumps(manifest))
    write(collection, "module.fail_json(msg='not so')")
    life.cls = make_type(load_index(), "Ansible::acme.tools.odd")
    with pytest.raises(ResourceFailure, match=r"acme\.tools 1\.2\.3; now 2\.0\.0-longer"):
        life.update({"name": "x", "token": "t"})


def test_a_password_is_never_asked_for(collection: Path) -> None:
    write(collection, "open('/dev/tty').read()")
    assert "/dev/tty" in fail_to_create()


def test_a_module_that_is_killed_is_run_again(collection: Path, tmp_path: Path) -> None:
    marker = tmp_path / "killed"
    write(
        collection,
        f"p = {str(marker)!r}\n    if not os.path.exists(p):\n"
        "        open(p, 'w').close()\n"
        "        os.kill(os.getpid(), 9)\n"
        "    module.exit_json(changed=False)",
    )
    life = make_life("acme.tools.odd", {"name": "x"})
    life.create()
    assert life.attribute("ansible_changed") is False


def test_a_module_that_was_killed_leaves_no_file_on_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = tmp_path / "remote"
    on = {"variables": {"ansible_remote_tmp": str(remote), "ansible_pipelining": False}}
    given = {"cmd": "kill -9 0", "ansible_on": on}  # with Ansible, which would tidy up
    life = make_life("ansible.builtin.shell", given)
    with pytest.raises(ResourceFailure, match="interrupted"):
        life.create()
    assert list(remote.glob("*")) == []


def test_a_command_is_followed_by_the_next_zonda(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    given = {"cmd": f"echo begun >> {journal}; sleep 3; echo ended >> {journal}"}
    life = make_life("ansible.builtin.shell", given, poll_every=0.0)
    resource = life.instance()
    life.context.operation = life._new_operation("CREATE")
    token = resource.handle_create()
    assert token is not None
    runs._runs.clear()  # as another process, which knows of no run
    while not resource.check_create_complete(token):
        pass
    assert journal.read_text().split() == ["begun", "ended"]


def test_a_user_extends_the_table(
    collection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(collection, "module.exit_json(changed=False)")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    options = {"name": {"required": False, "no_log": False, "choices": [], "aliases": ["called"]}}

    def find() -> life_cycles.LifeCycle:
        return life_cycles.find_life_cycle(load_index(), "acme.tools.odd", {"options": options})

    assert find().delete is None
    (collection / "meta").mkdir()
    (collection / "meta" / "zonda.yaml").write_text("acme.tools.odd: {delete: {name: gone}}\n")
    assert find().delete == {"name": "gone"}
    (tmp_path / "zonda").mkdir()
    (tmp_path / "zonda" / "ansible.yaml").write_text("acme.tools.odd: {delete: keep}\n")
    assert find().plan_removal({"name": "x"}) is None
    (tmp_path / "zonda" / "ansible.yaml").write_text("acme.tools.odd: {remove: keep}\n")
    with pytest.raises(Exception, match=r"ansible\.yaml: an entry is a map"):
        find()


@pytest.mark.parametrize("forks", ["0", "-1"])
def test_a_number_of_forks_that_is_none_runs_one_module_at_a_time(
    forks: str, collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANSIBLE_FORKS", forks)
    write(collection, "module.exit_json(changed=True)")
    life = make_life("acme.tools.odd", {"name": "x"})
    life.create()
    assert life.attribute("ansible_changed") is True

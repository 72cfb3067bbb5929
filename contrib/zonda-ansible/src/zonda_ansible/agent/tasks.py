"""One module on one host, by ansible-core's own executor of tasks.

Called in a child of the agent's process. Values are never read as Jinja: what a template of zonda
gives is plain text for Ansible.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shlex
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from .decryption import decrypt

#: The characters of a text in a diff that are kept: people read its beginning.
_LONGEST: Final = 4000
#: The bytes of what a module returns that are kept.
_LARGEST: Final = 1_000_000
_HOST: Final = "target"
#: Each takes some 20 MB.
_PARALLEL: Final = 10
#: The beginning of the names of temporary folders on hosts.
_MARK: Final = "ansible-tmp-zonda-"
_MADE: Final = "ansiballz_cache"


def prepare() -> None:
    """Make ansible-core ready: once, before any child is there."""
    from ansible import constants, context
    from ansible.module_utils.common.collections import ImmutableDict
    from ansible.plugins.loader import init_plugin_loader

    # Beside it Ansible finds the program that gives ssh a password.
    sys.argv[0] = str(Path(sysconfig.get_path("scripts"), "ansible"))
    init_plugin_loader()
    context.CLIARGS = ImmutableDict(
        connection="ssh",
        forks=1,
        become=None,
        become_method=constants.DEFAULT_BECOME_METHOD,
        become_user=None,
        check=False,
        diff=False,
        verbosity=0,
        syntax=None,
        start_at_task=None,
    )
    # Modules and settings of every run are read here, so that the children have them.
    idle = {"module": "ansible.builtin.debug", "options": {}, "keywords": {}}
    here = {"ansible_connection": "local"}
    run_module({**idle, "variables": here, "check": False, "diff": False})
    from ansible.playbook.play_context import PlayContext
    from ansible.plugins.loader import action_loader, become_loader, connection_loader

    action_loader.get("ansible.builtin.normal", class_only=True)
    become_loader.get("sudo")
    # An instance, since the options of the plug-in are read with it: two thirds of a child's work.
    connection_loader.get("ssh", PlayContext(), os.devnull)


def get_parallel() -> int:
    """The number of modules that run at a time: Ansible's ``forks`` where it is set, at least 1."""
    from ansible import constants

    forks, origin = constants.config.get_config_value_and_origin("DEFAULT_FORKS")
    return _PARALLEL if origin == "default" else max(1, int(forks))


def use_folder(folder: Path, mark: str) -> None:
    """Have this process put its temporary files into ``folder``, and name those on hosts."""
    from ansible import constants
    from ansible.plugins.shell import ShellBase

    folder.mkdir(mode=0o700, exist_ok=True)
    made = Path(constants.DEFAULT_LOCAL_TMP, _MADE)  # modules as they are sent: for all runs
    made.mkdir(mode=0o700, exist_ok=True)
    (folder / _MADE).symlink_to(made)
    constants.DEFAULT_LOCAL_TMP = str(folder)
    count = itertools.count(1)
    ShellBase._generate_temp_dir_name = staticmethod(lambda: f"{_MARK}{mark}-{next(count)}")


def find_shared(folder: Path) -> Path:
    """The place outside of ``folder`` that the process with this folder reads in."""
    made = folder / _MADE
    return made.readlink() if made.is_symlink() else folder


def remove_left(mark: str, variables: Mapping[str, Any]) -> None:
    """Remove what a run that was killed has left in Ansible's temporary folders on the host."""
    from ansible import constants

    known = {name: value for name, value in variables.items() if "become" not in name}
    own = constants.config.get_config_value(
        "remote_tmp", plugin_type="shell", plugin_name="sh", variables=known
    )
    home, rest = ("~/", own[2:]) if own.startswith("~/") else ("", own)
    folders = [f"{home}{shlex.quote(rest)}", "/var/tmp", "/tmp"]
    words = " ".join(f"{folder}/{_MARK}{mark}-*" for folder in folders)
    keywords = {"timeout": 20, "become": False}
    question = {"module": "ansible.builtin.raw", "options": {"_raw_params": f"rm -rf {words}"}}
    run_module(
        {**question, "variables": known, "keywords": keywords, "check": False, "diff": False}
    )


def run_module(question: Mapping[str, Any]) -> dict[str, Any]:
    """Run a module and return its result as JSON can hold it.

    ``module``, ``options``; ``variables`` of the host, the connection's among them; ``keywords`` of
    the task (``become``, ``environment``, ``timeout``); ``check``: only look. In the result,
    ``zonda_found`` is whether the file was there that an action such as ``copy`` looked for.
    ``keeps_folder``: nothing is done where the option ``path`` leads to a folder.
    """
    if question.get("keeps_folder"):
        asked = {"path": question["options"]["path"], "get_checksum": False}
        plain = {key: value for key, value in question.items() if key != "keeps_folder"}
        state = run_module({**plain, "module": "ansible.builtin.stat", "options": asked})
        if state.get("failed") or state.get("unreachable"):
            return state
        return {"changed": False} if state["stat"].get("isdir") else run_module(plain)
    from ansible.errors import AnsibleError
    from ansible.executor.task_executor import TaskExecutor
    from ansible.inventory.manager import InventoryManager
    from ansible.parsing.dataloader import DataLoader
    from ansible.playbook.play import Play
    from ansible.playbook.play_context import PlayContext
    from ansible.plugins import loader as plugins
    from ansible.vars.manager import VariableManager

    loader = DataLoader()
    try:
        question = decrypt(question, loader)
    except AnsibleError as error:
        return {"failed": True, "msg": str(error)}
    inventory = InventoryManager(loader=loader, sources=(f"{_HOST},",))
    variables = VariableManager(loader=loader, inventory=inventory)
    for name, value in question["variables"].items():
        variables.set_host_variable(_HOST, name, value)
    task = {
        question["module"]: question["options"],
        "check_mode": question["check"],
        "diff": question["diff"],
        **question["keywords"],
    }
    try:
        play = Play.load(
            {"name": "zonda", "hosts": _HOST, "gather_facts": False, "tasks": [task]},
            variable_manager=variables,
            loader=loader,
        )
        [task] = play.tasks[0].block
        host = inventory.get_host(_HOST)
        known = variables.get_vars(play=play, host=host, task=task)
        executor = TaskExecutor(
            host, task, known, PlayContext(play=play), loader, plugins, _Silence(), variables
        )
        with _note_files() as found:
            result = executor.run()
        return _to_plain({**result, **({"zonda_found": found[-1]} if found else {})})
    except AnsibleError as error:
        return {"failed": True, "msg": str(error)}


@contextlib.contextmanager
def _note_files() -> Iterator[list[bool]]:
    """Whether each file was there that an action has looked for, in their order."""
    from ansible.plugins.action import ActionBase

    found: list[bool] = []
    look = ActionBase._execute_remote_stat

    def note(self: Any, *args: Any, **kwargs: Any) -> Any:
        state = look(self, *args, **kwargs)
        found.append(bool(state.get("exists")))
        return state

    ActionBase._execute_remote_stat = note
    yield found
    ActionBase._execute_remote_stat = look


class _Silence:
    """The queue of a task's messages, which nobody reads."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: None


def _to_plain(result: Mapping[str, Any]) -> dict[str, Any]:
    if result.get("_ansible_no_log"):
        result = {key: result[key] for key in ("changed", "failed", "unreachable") if key in result}
        result = {**result, "msg": "the output is hidden, since the task says no_log"}
    kept = {
        key: value
        for key, value in result.items()
        if not key.startswith("_ansible") and key not in ("invocation", "exception", "deprecations")
    }
    if "diff" in kept:
        kept["diff"] = _shorten(kept["diff"])
    found: dict[str, Any] = json.loads(json.dumps(kept, default=str, skipkeys=True))
    large = sorted(found, key=lambda key: len(json.dumps(found[key])), reverse=True)
    while large and len(json.dumps(found)) > _LARGEST:
        del found[large.pop(0)]
    return found


def _shorten(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _shorten(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_shorten(each) for each in value[:100]]
    return value[:_LONGEST] if isinstance(value, str | bytes) else value

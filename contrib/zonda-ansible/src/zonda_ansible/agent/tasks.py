"""One module on one host, by ansible-core's own executor of tasks.

Called in a child of the agent's process. Values are never read as Jinja: what a template of zonda
gives is plain text for Ansible.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

#: The characters of a text in a diff that are kept: people read its beginning.
_LONGEST: Final = 4000
#: The bytes of what a module returns that are kept.
_LARGEST: Final = 1_000_000
_HOST: Final = "target"


def prepare() -> None:
    """Make ansible-core ready: once, before any child is there."""
    from ansible import context
    from ansible.module_utils.common.collections import ImmutableDict
    from ansible.plugins.loader import init_plugin_loader

    init_plugin_loader()
    context.CLIARGS = ImmutableDict(
        connection="ssh",
        forks=1,
        become=None,
        become_method=None,
        become_user=None,
        check=False,
        diff=False,
        verbosity=0,
        syntax=None,
        start_at_task=None,
    )
    _import_executor()


def _import_executor() -> None:
    """Import what every run needs, so that its children have it."""
    import ansible.executor.task_executor
    import ansible.inventory.manager
    import ansible.playbook.play
    import ansible.vars.manager  # noqa: F401


def run_module(question: Mapping[str, Any]) -> dict[str, Any]:
    """Run a module and return its result as JSON can hold it.

    ``module``, ``options``; ``variables`` of the host, the connection's among them; ``keywords`` of
    the task (``become``, ``environment``, ``timeout``); ``check``: only look.
    """
    from ansible.errors import AnsibleError
    from ansible.executor.task_executor import TaskExecutor
    from ansible.inventory.manager import InventoryManager
    from ansible.parsing.dataloader import DataLoader
    from ansible.playbook.play import Play
    from ansible.playbook.play_context import PlayContext
    from ansible.plugins import loader as plugins
    from ansible.vars.manager import VariableManager

    loader = DataLoader()
    inventory = InventoryManager(loader=loader, sources=(f"{_HOST},",))
    variables = VariableManager(loader=loader, inventory=inventory)
    for name, value in question["variables"].items():
        variables.set_host_variable(_HOST, name, value)
    task = {
        question["module"]: question["options"],
        "check_mode": question["check"],
        "diff": question["check"],
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
        return _to_plain(executor.run())
    except AnsibleError as error:
        return {"failed": True, "msg": str(error)}


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

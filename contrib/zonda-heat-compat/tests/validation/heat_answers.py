"""Real Heat's own validation of templates, in this process, with clients that find everything.

    python heat_answers.py < requests.jsonl > answers.jsonl

A request is ``{"id", "template", "parameters", "files"}``. An answer is ``{"id", "error"}``; no
error is null. Nothing of zonda is imported.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
import warnings
from typing import Any
from unittest import mock

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)


class Everything(mock.MagicMock):
    """A client for which everything is there: what is looked up by a name has that name as id."""


def prepare() -> None:
    """Load Heat's types, and put clients in the place of its own."""
    from oslo_config import cfg

    from heat.common import context
    from heat.engine import constraints, resource, resources
    from heat.engine.clients import client_plugin
    from heat.engine.clients.os import nova

    cfg.CONF([], project="heat", default_config_files=[])
    cfg.CONF.set_override("environment_dir", "/nonexistent")
    resource.Resource.is_service_available = classmethod(lambda cls, context: (True, None))

    def holds(self: Any, value: Any, context: Any, template: Any = None) -> bool:
        return True

    constraints.BaseCustomConstraint.validate = holds
    resources.initialise()
    for name, cls in resources.global_env().constraints.items():
        asks = cls.__dict__.get("validate_with_client") or cls.resource_client_name
        if asks or "." in name:
            cls.validate = holds
    for module in list(sys.modules.values()):
        if not getattr(module, "__name__", "").startswith("heat.engine.clients.os"):
            continue
        for cls in list(vars(module).values()):
            if isinstance(cls, type) and issubclass(cls, client_plugin.ClientPlugin):
                cls._create = lambda self, version=None: Everything()
                for key in dir(cls):
                    if key.startswith("find_"):
                        setattr(cls, key, lambda self, *given, **named: given[-1])
    nova.NovaClientPlugin.is_version_supported = lambda self, version: True
    resource.Resource.rpc_client = lambda self: Everything()
    nova.NovaClientPlugin.get_flavor = lambda self, name: mock.Mock(ram=2**20, disk=2**20)
    nova.NovaClientPlugin.absolute_limits = lambda self: {
        "maxPersonality": 100,
        "maxPersonalitySize": 2**20,
        "maxServerMeta": 1000,
    }
    context.RequestContext.keystone_session = mock.MagicMock()


def validate(request: dict[str, Any]) -> str | None:
    """The first fault that Heat finds, or None."""
    from heat.common import context, template_format
    from heat.engine import environment, stack, template

    made = context.RequestContext.from_dict(
        {"tenant": "t", "project_id": "t", "user_id": "u", "username": "u", "is_admin": False}
    )
    try:
        parsed = template_format.parse(request["template"])
        env = environment.Environment({"parameters": request["parameters"]})
        one = template.Template(parsed, files=request["files"], env=env)
        stack.Stack(made, "stack", one).validate()
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} [{at.filename.rpartition('heat/')[2]}:{at.lineno}]"
    return None


def main() -> None:
    """Answer every request."""
    prepare()
    for line in sys.stdin:
        request = json.loads(line)
        said = {"id": request["id"], "error": validate(request)}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()

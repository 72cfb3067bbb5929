"""An environment as data. Which class a type stands for is the engine's business."""

from __future__ import annotations

from typing import Any

from zonda.hooks import Unavailable

from heat.common import environment_format as env_fmt

HOOK_TYPES = (
    HOOK_PRE_CREATE,
    HOOK_PRE_UPDATE,
    HOOK_PRE_DELETE,
    HOOK_POST_CREATE,
    HOOK_POST_UPDATE,
    HOOK_POST_DELETE,
) = ("pre-create", "pre-update", "pre-delete", "post-create", "post-update", "post-delete")
RESTRICTED_ACTIONS = (UPDATE, REPLACE) = ("update", "replace")


def valid_hook_type(hook: str) -> bool:
    return hook in HOOK_TYPES


class ResourceRegistry:
    """Types by name, as far as an environment maps them."""

    def __init__(self, known: Any = None) -> None:
        self._known = dict(known or {})

    def load(self, json_snippet: Any) -> None:
        self._known.update(json_snippet or {})

    def as_dict(self) -> dict[str, Any]:
        return dict(self._known)

    def get_class(self, resource_type: str, resource_name: str | None = None, **more: Any) -> Any:
        """Not told to plug-ins."""
        return Unavailable(f"the class of {resource_type} is the engine's business")


class Environment:
    """Parameters and the registry of types."""

    def __init__(self, env: Any = None, user_env: bool = True) -> None:
        given = dict(env or {})
        if given and not any(section in given for section in env_fmt.SECTIONS):
            given = {env_fmt.PARAMETERS: given}
        self.registry = ResourceRegistry(given.get(env_fmt.RESOURCE_REGISTRY))
        self.params = dict(given.get(env_fmt.PARAMETERS) or {})
        self.param_defaults = dict(given.get(env_fmt.PARAMETER_DEFAULTS) or {})
        self.encrypted_param_names = list(given.get(env_fmt.ENCRYPTED_PARAM_NAMES) or ())
        self.constraints: dict[str, Any] = {}
        self.stack_lifecycle_plugins: list[Any] = []

    def load(self, env_snippet: Any) -> None:
        """Take over another environment."""
        self.registry.load(env_snippet.get(env_fmt.RESOURCE_REGISTRY))
        self.params.update(env_snippet.get(env_fmt.PARAMETERS) or {})

    def user_env_as_dict(self) -> dict[str, Any]:
        """What was given."""
        return {
            env_fmt.RESOURCE_REGISTRY: self.registry.as_dict(),
            env_fmt.PARAMETERS: dict(self.params),
            env_fmt.PARAMETER_DEFAULTS: dict(self.param_defaults),
            env_fmt.ENCRYPTED_PARAM_NAMES: list(self.encrypted_param_names),
        }

    env_as_dict = user_env_as_dict

    def register_class(self, resource_type: str, resource_class: Any, path: Any = None) -> None:
        """What plug-ins of 2013 call; ``resource_mapping`` says it today."""

    def get_constraint(self, name: str) -> Any:
        return self.constraints.get(name)

"""The base of plug-ins for networks. It knows no network service: its client does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heat.common import exception
from heat.engine import resource

_BUILDING = ("BUILD", "PENDING_CREATE", "PENDING_UPDATE", "PENDING_DELETE")
_THERE = ("ACTIVE", "DOWN", "INACTIVE", "CREATED")


class NeutronResource(resource.Resource):
    """Makes requests of properties, and reads what the service answers."""

    default_client_name = "neutron"
    res_info_key: str | None = None

    def validate(self) -> Any:
        """Properties must not be given twice: by themselves and in ``value_specs``."""
        found = super().validate()
        return found if found else self.validate_properties(self.properties)

    @staticmethod
    def validate_properties(properties: Any) -> Any:
        """The text of a fault, or None."""
        specs = properties.get("value_specs")
        if not specs:
            return None
        banned = {"shared", "tenant_id"} & set(specs)
        if banned:
            return f"{', '.join(sorted(banned))} not allowed in value_specs"
        twice = set(properties) & set(specs)
        if twice:
            return f"Properties given in value_specs, too: {', '.join(sorted(twice))}"
        return None

    @staticmethod
    def _validate_depr_property_required(
        properties: Any, prop_key: str, depr_prop_key: str
    ) -> None:
        if not properties.get(prop_key) and not properties.get(depr_prop_key):
            raise exception.PropertyUnspecifiedError(prop_key, depr_prop_key)

    @staticmethod
    def merge_value_specs(props: dict[str, Any]) -> None:
        """Put what stands in ``value_specs`` beside it."""
        props.update(props.pop("value_specs", None) or {})

    @staticmethod
    def prepare_properties(properties: Any, name: str | None) -> dict[str, Any]:
        """What is sent: the properties that are given, with a name where they have one."""
        props = {key: value for key, value in properties.items() if value is not None}
        if "name" in properties:
            props.setdefault("name", name)
        NeutronResource.merge_value_specs(props)
        return props

    def prepare_update_properties(self, definition: Any) -> Any:
        """What is sent for an update. A ``prop_diff`` is changed in place."""
        if not isinstance(definition, dict):
            props = definition.properties(self.properties_schema, self.context)
            return self.prepare_properties(props, self.physical_resource_name())
        self.merge_value_specs(definition)
        if "name" in definition and definition["name"] is None:
            definition["name"] = self.physical_resource_name()
        return definition

    @staticmethod
    def is_built(attributes: Mapping[str, Any]) -> bool:
        """Whether the thing is there; raises for one that is broken."""
        status = attributes["status"]
        if status in _BUILDING:
            return False
        if status in _THERE:
            return True
        if status == "ERROR":
            raise exception.ResourceInError(resource_status=status)
        raise exception.ResourceUnknownStatus(
            resource_status=status, result="Resource is not built"
        )

    def _store_config_default_properties(self, attrs: Any) -> None:
        """Heat notes what the service chose, for its own comparison with what is there."""

    def set_tags(self, tags: Any) -> None:
        """Give the thing its tags."""
        kind = f"{self.entity or self.res_info_key}s"
        self.client().replace_tag(kind, self.resource_id, {"tags": tags or []})

    def _res_get_args(self) -> list[Any]:
        return [self.resource_id]

    def _show_resource(self) -> Any:
        if self.res_info_key is None and self.entity is None:
            return super()._show_resource()
        what = self.entity or self.res_info_key
        answer = getattr(self.client(), f"show_{what}")(*self._res_get_args())
        return answer[self.res_info_key or what]

    def _resolve_attribute(self, name: str) -> Any:
        if self.resource_id is None:
            return None
        return self._show_resource()[name]

    def get_reference_id(self) -> Any:
        """The id."""
        return super().get_reference_id()

    def needs_replace_failed(self) -> Any:
        """Whether what failed is broken or gone."""
        if not self.resource_id:
            return True
        with self.client_plugin().ignore_not_found:
            return self._show_resource()["status"] in ("ERROR", "PENDING_DELETE")
        return True

    def handle_delete(self) -> Any:
        if self.resource_id is None or self.entity is None:
            return None
        with self.client_plugin().ignore_not_found:
            getattr(self.client(), f"delete_{self.entity}")(self.resource_id)
            return True
        return None

    def _not_found_in_call(self, func: Any, *args: Any, **kwargs: Any) -> bool:
        try:
            func(*args, **kwargs)
        except Exception as error:
            self.client_plugin().ignore_not_found(error)
            return True
        return False

    def check_delete_complete(self, task: Any) -> bool:
        # A task of 2013, or what handle_delete gave: then the thing is asked for.
        if hasattr(task, "step"):
            if not task.started():
                task.start()
                return bool(task.done())
            return bool(task.step())
        if not task:
            return True
        return self._not_found_in_call(self._show_resource)

    def _delete_task(self) -> Any:
        from heat.engine import scheduler

        def gone() -> Any:
            while not self._not_found_in_call(self._show_resource):
                yield None

        return scheduler.TaskRunner(gone)

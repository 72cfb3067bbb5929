"""The route table of Heat's API: method, path, operation, handler, policy. The order counts."""

from __future__ import annotations

from ..http.routes import Handler, Route, RouteTable
from .catalog import functions, previews, service_info, types, validation
from .resources import changes as resource_changes
from .resources import events
from .resources import listing as resources
from .software import configs, deployments, server_configs
from .stacks import actions, changes, copies, listing, lookup, reads

PREFIX = "/v1/{project}"

#: Operations that load templates, for which there are few threads.
HEAVY = frozenset(
    {
        "stacks:abandon",
        "stacks:environment",
        "stacks:export",
        "stacks:files",
        "stacks:preview",
        "stacks:preview_update",
        "stacks:preview_update_patch",
        "stacks:template",
        "stacks:validate_template",
    }
)

#: Reads that clients repeat while they wait; their answers depend on the database only.
MEMORISED = frozenset(
    {
        "events:index",
        "resource:index",
        "stacks:detail",
        "stacks:index",
        "stacks:list_outputs",
        "stacks:lookup",
        "stacks:show",
        "stacks:show_output",
    }
)

_S = "/stacks/{stack_name}/{stack_id}"
_R = f"{_S}/resources/{{resource}}"
_SNAPSHOT = f"{_S}/snapshots/{{snapshot_id}}"
_TYPE = "/resource_types/{type}"
_CONFIG = "/software_configs/{config_id}"
_DEPLOYMENT = "/software_deployments/{deployment_id}"
_VERSIONS = "/template_versions"


def _list_lookups() -> list[tuple[str, str, str, Handler, str]]:
    """The routes of names and ids, which lead to the canonical URLs."""
    read = "resources|events|template|actions|environment|files"
    write = "resources|events|template|actions"
    paths = [
        (method, f"/stacks/{name}")
        for name in ("{stack_name:arn:openstack:heat::.*}", "{stack_name}")
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE")
    ]
    paths += [("GET", f"/stacks/{{stack_name}}/{{part:{read}}}")]
    paths += [("POST", f"/stacks/{{stack_name}}/{{part:{write}}}")]
    return [
        (method, path, "stacks:lookup", lookup.redirect_to_stack, "agent") for method, path in paths
    ]


ROWS: list[tuple[str, str, str, Handler, str]] = [
    ("GET", "/stacks", "stacks:index", listing.list_stacks, "read"),
    ("POST", "/stacks", "stacks:create", changes.create_stack, "write"),
    ("GET", "/stacks/detail", "stacks:detail", listing.list_stacks, "read"),
    ("POST", "/stacks/preview", "stacks:preview", previews.preview_stack, "read"),
    *_list_lookups(),
    ("GET", _S, "stacks:show", reads.show_stack, "read"),
    ("PUT", _S, "stacks:update", changes.update_stack, "write"),
    ("PATCH", _S, "stacks:update_patch", changes.patch_stack, "write"),
    ("DELETE", _S, "stacks:delete", changes.delete_stack, "write"),
    ("PUT", f"{_S}/preview", "stacks:preview_update", previews.preview_update, "write"),
    ("PATCH", f"{_S}/preview", "stacks:preview_update_patch", previews.preview_patch, "write"),
    ("GET", f"{_S}/template", "stacks:template", reads.show_template, "read"),
    ("GET", f"{_S}/environment", "stacks:environment", reads.show_environment, "read"),
    ("GET", f"{_S}/files", "stacks:files", reads.show_files, "read"),
    ("GET", f"{_S}/outputs", "stacks:list_outputs", reads.list_outputs, "read"),
    ("GET", f"{_S}/outputs/{{output}}", "stacks:show_output", reads.show_output, "read"),
    ("DELETE", f"{_S}/abandon", "stacks:abandon", copies.abandon_stack, "write"),
    ("GET", f"{_S}/export", "stacks:export", copies.export_stack, "write"),
    ("POST", f"{_S}/snapshots", "stacks:snapshot", copies.create_snapshot, "write"),
    ("GET", f"{_S}/snapshots", "stacks:list_snapshots", copies.list_snapshots, "read"),
    ("GET", _SNAPSHOT, "stacks:show_snapshot", copies.show_snapshot, "read"),
    ("DELETE", _SNAPSHOT, "stacks:delete_snapshot", copies.delete_snapshot, "write"),
    ("POST", f"{_SNAPSHOT}/restore", "stacks:restore_snapshot", copies.restore_snapshot, "write"),
    ("POST", f"{_S}/actions", "actions:action", actions.act_on_stack, "read"),
    ("GET", f"{_S}/resources", "resource:index", resources.list_resources, "read"),
    ("GET", _R, "resource:show", resources.show_resource, "read"),
    ("PATCH", _R, "resource:mark_unhealthy", resource_changes.mark_resource, "write"),
    ("GET", f"{_R}/metadata", "resource:metadata", resources.show_metadata, "agent"),
    ("POST", f"{_R}/signal", "resource:signal", resource_changes.signal_resource, "agent"),
    ("GET", f"{_S}/events", "events:index", events.list_events, "read"),
    ("GET", f"{_R}/events", "events:index", events.list_resource_events, "read"),
    ("GET", f"{_R}/events/{{event_id}}", "events:show", events.show_event, "read"),
    ("POST", "/validate", "stacks:validate_template", validation.validate_template, "write"),
    ("GET", "/resource_types", "stacks:list_resource_types", types.list_types, "read"),
    ("GET", _TYPE, "stacks:resource_schema", types.show_type, "read"),
    ("GET", f"{_TYPE}/template", "stacks:generate_template", types.show_type_template, "write"),
    ("GET", _VERSIONS, "stacks:list_template_versions", functions.list_versions, "read"),
    (
        "GET",
        f"{_VERSIONS}/{{version}}/functions",
        "stacks:list_template_functions",
        functions.list_functions,
        "read",
    ),
    ("GET", "/software_configs", "software_configs:index", configs.list_configs, "read"),
    ("POST", "/software_configs", "software_configs:create", configs.create_config, "write"),
    ("GET", _CONFIG, "software_configs:show", configs.show_config, "read"),
    ("DELETE", _CONFIG, "software_configs:delete", configs.delete_config, "write"),
    (
        "GET",
        "/software_deployments/metadata/{server_id}",
        "software_deployments:metadata",
        server_configs.show_metadata,
        "agent",
    ),
    (
        "GET",
        "/software_deployments",
        "software_deployments:index",
        deployments.list_deployments,
        "read",
    ),
    (
        "POST",
        "/software_deployments",
        "software_deployments:create",
        deployments.create_deployment,
        "write",
    ),
    ("GET", _DEPLOYMENT, "software_deployments:show", deployments.show_deployment, "read"),
    ("PUT", _DEPLOYMENT, "software_deployments:update", deployments.update_deployment, "write"),
    ("DELETE", _DEPLOYMENT, "software_deployments:delete", deployments.delete_deployment, "write"),
    ("GET", "/build_info", "build_info:build_info", service_info.show_build_info, "read"),
    ("GET", "/services", "service:index", service_info.list_services, "admin"),
]

TABLE = RouteTable(
    [
        Route(
            method,
            PREFIX + path,
            operation,
            handler,
            policy,
            operation in HEAVY,
            method == "GET" and operation in MEMORISED,
        )
        for method, path, operation, handler, policy in ROWS
    ]
)

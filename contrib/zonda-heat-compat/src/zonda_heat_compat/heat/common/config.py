"""Heat's settings, for plug-ins that read ``cfg.CONF``: their names with Heat's defaults.

They are known to oslo.config where that is installed; zonda's own settings are elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

DEFAULTS: dict[str, Any] = {
    "action_retry_limit": 5,
    "allow_trusts_redelegation": False,
    "client_retry_limit": 2,
    "cloud_backend": "heat.engine.clients.OpenStackClients",
    "default_deployment_signal_transport": "CFN_SIGNAL",
    "default_software_config_transport": "POLL_SERVER_CFN",
    "default_user_data_format": "HEAT_CFNTOOLS",
    "deferred_auth_method": "trusts",
    "encrypt_parameters_and_properties": False,
    "engine_life_check_timeout": 2,
    "environment_dir": "/etc/heat/environment.d",
    "error_wait_time": 240,
    "event_purge_batch_size": 200,
    "heat_metadata_server_url": "",
    "heat_stack_user_role": "heat_stack_user",
    "heat_waitcondition_server_url": "",
    "hidden_stack_tags": [],
    "instance_connection_https_validate_certificates": "1",
    "instance_connection_is_secure": "0",
    "instance_user": "",
    "max_cinder_api_microversion": "",
    "max_interface_check_attempts": 10,
    "max_ip_check_attempts": 10,
    "max_ironic_api_microversion": "",
    "max_json_body_size": 1048576,
    "max_nested_stack_depth": 5,
    "max_nova_api_microversion": "",
    "max_resources_per_stack": 1000,
    "max_server_name_length": 53,
    "max_template_size": 524288,
    "num_engine_workers": 1,
    "plugin_dirs": [],
    "reauthentication_auth_method": "",
    "region_name_for_services": "",
    "region_name_for_shared_services": "",
    "server_keystone_endpoint_type": "",
    "shared_services_types": ["image", "volume", "volumev3"],
    "stack_action_timeout": 3600,
    "stack_domain_admin": "",
    "stack_domain_admin_password": "",
    "stack_scheduler_hints": False,
    "stack_user_domain_id": "",
    "stack_user_domain_name": "",
    "trusts_delegated_roles": [],
}

#: Settings in groups. Those of ``[clients]`` hold for every ``[clients_NAME]``, too.
GROUPS: dict[str, dict[str, Any]] = {
    "volumes": {"backups_enabled": True},
    "clients": {
        "endpoint_type": "publicURL",
        "ca_file": "",
        "cert_file": "",
        "key_file": "",
        "insecure": False,
        "http_log_debug": False,
    },
}


def register() -> None:
    """Make the names known to oslo.config; nothing to do without it."""
    try:
        from oslo_config import cfg
    except ImportError:
        return
    kinds = {bool: cfg.BoolOpt, int: cfg.IntOpt, list: cfg.ListOpt, str: cfg.StrOpt}
    for name, default in DEFAULTS.items():
        cfg.CONF.register_opt(kinds[type(default)](name, default=default))
    for group, known in GROUPS.items():
        for name, default in known.items():
            cfg.CONF.register_opt(kinds[type(default)](name, default=default), group=group)


def get_client_option(client: str, option: str, fallback: bool = True) -> Any:
    """A setting of a client; None for one that has no default."""
    return GROUPS["clients"].get(option) or None


def get_ssl_options(client: str) -> dict[str, Any]:
    """How the certificates of a service are checked."""
    return {"verify": True, "cert": None}


def list_opts() -> Iterator[Any]:
    """Nothing: there is no heat.conf."""
    return iter(())


register()

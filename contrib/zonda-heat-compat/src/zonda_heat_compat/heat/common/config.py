"""Heat's settings, for plug-ins that read ``cfg.CONF``: their names with Heat's defaults.

They are known to oslo.config where that is installed; zonda's own settings are elsewhere.
"""

from __future__ import annotations

from typing import Any

DEFAULTS: dict[str, Any] = {
    "action_retry_limit": 5,
    "client_retry_limit": 2,
    "default_deployment_signal_transport": "CFN_SIGNAL",
    "default_software_config_transport": "POLL_SERVER_CFN",
    "default_user_data_format": "HEAT_CFNTOOLS",
    "deferred_auth_method": "trusts",
    "environment_dir": "/etc/heat/environment.d",
    "error_wait_time": 240,
    "event_purge_batch_size": 200,
    "hidden_stack_tags": [],
    "instance_connection_https_validate_certificates": "1",
    "instance_connection_is_secure": "0",
    "instance_user": "",
    "max_interface_check_attempts": 10,
    "max_ip_check_attempts": 10,
    "max_nested_stack_depth": 5,
    "max_nova_api_microversion": "",
    "max_resources_per_stack": 1000,
    "max_server_name_length": 53,
    "max_template_size": 524288,
    "num_engine_workers": 1,
    "plugin_dirs": [],
    "region_name_for_services": "",
    "region_name_for_shared_services": "",
    "stack_action_timeout": 3600,
    "stack_scheduler_hints": False,
    "trusts_delegated_roles": [],
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


register()

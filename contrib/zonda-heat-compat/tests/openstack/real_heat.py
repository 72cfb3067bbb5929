"""Run real Heat, its API and its engine in one process, on a cloud that is there.

    python real_heat.py FOLDER PORT

``OS_CLIENT_CONFIG_FILE`` names a file with the cloud ``admin``, whose user Heat acts as;
``ZONDA_CLOUD`` the folder of the cloud's programs, whose ``serve.py`` has SQLite wait for locks.
Needs ``openstack-heat`` and ``werkzeug``. The database and the log lie in FOLDER. Messages go
through oslo.messaging's memory (``fake://``).
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

SETTINGS = """
[DEFAULT]
transport_url = fake://
host = heat
auth_encryption_key = 0123456789abcdef0123456789abcdef
deferred_auth_method = password
num_engine_workers = 1
heat_metadata_server_url = http://127.0.0.1:{port}
heat_waitcondition_server_url = http://127.0.0.1:{port}
enable_stack_abandon = true
convergence_engine = true
log_file = {folder}/heat.log
[database]
connection = sqlite:///{folder}/heat.db?timeout=60
[paste_deploy]
flavor =
api_paste_config = {folder}/api-paste.ini
[keystone_authtoken]
auth_type = password
auth_url = {auth_url}
www_authenticate_uri = {auth_url}
username = {username}
password = {password}
project_name = {project_name}
user_domain_name = Default
project_domain_name = Default
[trustee]
auth_type = password
auth_url = {auth_url}
username = {username}
password = {password}
user_domain_name = Default
[clients_keystone]
auth_uri = {auth_url}
"""
PASTE = """
[pipeline:heat-api]
pipeline = faultwrap versionnegotiation authtoken context osprofiler apiv1app
[app:apiv1app]
paste.app_factory = heat.common.wsgi:app_factory
heat.app_factory = heat.api.openstack.v1:API
[filter:faultwrap]
paste.filter_factory = heat.common.wsgi:filter_factory
heat.filter_factory = heat.api.openstack:faultwrap_filter
[filter:versionnegotiation]
paste.filter_factory = heat.common.wsgi:filter_factory
heat.filter_factory = heat.api.openstack:version_negotiation_filter
[filter:authtoken]
paste.filter_factory = keystonemiddleware.auth_token:filter_factory
[filter:context]
paste.filter_factory = heat.common.context:ContextMiddleware_filter_factory
[filter:osprofiler]
paste.filter_factory = osprofiler.web:WsgiMiddleware.factory
"""


def write_settings(folder: Path, port: int) -> str:
    """Write heat.conf for the cloud ``admin``; give its path."""
    from openstack.config import OpenStackConfig

    given = OpenStackConfig().get_one(cloud="admin").get_auth_args()
    names = ("auth_url", "username", "password", "project_name")
    values = {name: given[name] for name in names}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "heat.conf"
    path.touch(0o600)
    path.write_text(SETTINGS.format(folder=folder, port=port, **values))
    (folder / "api-paste.ini").write_text(PASTE)
    return str(path)


def main() -> None:
    """Serve until the process is ended."""
    folder, port = Path(sys.argv[1]).resolve(), int(sys.argv[2])
    path = write_settings(folder, port)
    from oslo_service import backend

    backend.init_backend(backend.BackendType.THREADING)
    sys.path.append(os.environ["ZONDA_CLOUD"])
    from serve import sqlite_that_waits

    sqlite_that_waits(all_write=True)
    from oslo_config import cfg
    from oslo_log import log

    from heat.common import config, messaging
    from heat.db import api as db

    log.register_options(cfg.CONF)
    cfg.CONF(["--config-file", path], project="heat", prog="heat-engine")
    log.setup(cfg.CONF, "heat")
    config.set_config_defaults()
    messaging.setup()
    from heat.db import migration
    from heat.engine import service, template
    from heat.rpc import api as rpc

    migration.db_sync()
    template._get_template_extension_manager()
    assert db
    engine = service.EngineService(cfg.CONF.host, rpc.ENGINE_TOPIC)
    engine.start()
    application = config.load_paste_app("heat-api")
    from werkzeug import serving

    server = serving.make_server("127.0.0.1", port, application, threaded=True)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"Heat serves http://127.0.0.1:{port}/v1/%(tenant_id)s", flush=True)
    sys.stdin.read()  # until who started it ends, or closes it
    os._exit(0)


if __name__ == "__main__":
    main()

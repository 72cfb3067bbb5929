"""Mistral itself, for tests: API, engine and executor as threads of one process, on loopback.

Run by ``mistral.sh serve`` in an environment that has Mistral, never by zonda's own Python. With
all of them in one process Mistral needs neither a broker (the transport hands messages on in
memory) nor a database server (a file of SQLite will do). Usage: server.py FOLDER PORT
"""

import os
import signal
import sys
import threading
from pathlib import Path

SETTINGS = """
[DEFAULT]
transport_url = fake://
log_file = {folder}/mistral.log
rpc_response_timeout = 60
[database]
connection = sqlite:///{folder}/mistral.sqlite
[pecan]
auth_enable = false
[api]
host = 127.0.0.1
port = {port}
[scheduler]
fixed_delay = 0.2
random_delay = 0
"""


def configure(folder, port):
    """Write Mistral's configuration and have it read."""
    from mistral import config
    from oslo_config import cfg
    from oslo_log import log

    file = folder / "mistral.conf"
    file.write_text(SETTINGS.format(folder=folder, port=port))
    cfg.CONF.register_cli_opts(config.CLI_OPTS)
    config.parse_args(["--config-file", str(file)])
    log.setup(cfg.CONF, "mistral")


def start():
    """Start everything; gives the HTTP server."""
    from mistral.api import service
    from mistral.db.v2 import api as database
    from mistral.engine import engine_server
    from mistral.executors import executor_server

    database.setup_db()  # Mistral's migrations use statements that SQLite has not
    for part in (engine_server, executor_server):
        running = part.get_oslo_service(setup_profiler=False)
        running.start()
        running.wait_started()
    # What WSGIService.start() does beside these two is meant for a forked child: it would take
    # the transport, and with it engine and executor, away.
    server = service.WSGIService("mistral_api").server
    server.prepare()
    threading.Thread(target=server.serve, daemon=True).start()
    return server


def main(folder, port):
    """Serve until SIGTERM, or until whoever started this is gone."""
    parent = os.getppid()
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    configure(Path(folder).resolve(), int(port))
    start()
    never = threading.Event()
    while os.getppid() == parent:
        never.wait(1)
    os._exit(0)  # the threads of engine and executor do not end by themselves


main(*sys.argv[1:])

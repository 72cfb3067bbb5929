"""Keystone itself, for tests: its WSGI application in one process, on loopback, with SQLite.

Run by ``keystone.sh serve`` in an environment that has Keystone, never by zonda's own Python. The
administrator is admin, with the password admin, in a project of that name. Usage: server.py FOLDER
PORT
"""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

SETTINGS = """
[DEFAULT]
log_file = {folder}/keystone.log
use_stderr = false
[database]
connection = sqlite:///{folder}/keystone.sqlite?timeout=60
[token]
provider = fernet
expiration = 3600
[fernet_tokens]
key_repository = {folder}/fernet-keys
[credential]
key_repository = {folder}/credential-keys
[identity]
# cheap hashes: these passwords are no secret
password_hash_algorithm = bcrypt
password_hash_rounds = 4
[cache]
enabled = false
"""


def prepare(folder, port):
    """Write Keystone's configuration, and make its tables, keys and administrator."""
    file = folder / "keystone.conf"
    if file.exists():
        return
    for name in ("fernet-keys", "credential-keys"):
        (folder / name).mkdir(mode=0o700)
    draft = folder / "draft.conf"
    draft.write_text(SETTINGS.format(folder=folder))
    manage = [Path(sys.executable).parent / "keystone-manage", "--config-file", draft]
    url = f"http://127.0.0.1:{port}/v3"
    urls = [f"--bootstrap-{kind}-url={url}" for kind in ("public", "internal", "admin")]
    for words in (
        ["db_sync"],
        ["fernet_setup", f"--keystone-user={os.getuid()}", f"--keystone-group={os.getgid()}"],
        ["credential_setup", f"--keystone-user={os.getuid()}", f"--keystone-group={os.getgid()}"],
        ["bootstrap", "--bootstrap-password=admin", "--bootstrap-region-id=RegionOne", *urls],
    ):
        subprocess.run(
            [*manage, *words], check=True, env={**os.environ, "PYTHONWARNINGS": "ignore"}
        )
    draft.rename(file)


def main(folder, port):
    """Serve until SIGTERM, or until whoever started this is gone."""
    parent, folder = os.getppid(), Path(folder).resolve()
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    prepare(folder, port)
    os.environ["OS_KEYSTONE_CONFIG_DIR"] = str(folder)
    sys.argv = ["keystone"]
    from keystone.wsgi.api import application
    from werkzeug import serving

    class Handler(serving.WSGIRequestHandler):
        def log(self, *_):
            """Nothing."""

    server = serving.make_server(
        "127.0.0.1", int(port), application, threaded=True, request_handler=Handler
    )
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    never = threading.Event()
    while os.getppid() == parent:
        never.wait(1)
    os._exit(0)


main(*sys.argv[1:])

"""Commands of openstackclient in one process: a list of words as JSON a line, its end as JSON back.

Run as ``python commands.py URL`` by a Python that has the clients; what takes most of the time of a
command are its imports. Commands sign in with a password, unless they name another way.
"""

import contextlib
import io
import json
import sys

import catalog
from openstackclient.shell import OpenStackShell
from osc_lib.clientmanager import ClientCache, ClientManager


def run(words):
    """The code and the output of one command."""
    text = io.StringIO()
    for each in vars(ClientManager).values():
        if isinstance(each, ClientCache):
            each._handle = None  # or the second command asks the server of the first
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        shell = OpenStackShell()
        shell.stdout = shell.stderr = text
        try:
            code = shell.run(words)
        except SystemExit as end:
            code = end.code
    return code or 0, text.getvalue()


SIGN_IN = {
    "--os-auth-url": catalog.start(sys.argv[1]),
    "--os-username": "u",
    "--os-password": "p",
    "--os-project-name": "default",
    "--os-user-domain-id": "d",
    "--os-project-domain-id": "d",
    "--os-region-name": "R",
}
out = sys.stdout
for line in sys.stdin:
    words = json.loads(line)
    first = [] if "--os-auth-type" in words else [word for pair in SIGN_IN.items() for word in pair]
    print(json.dumps(run([*first, *words])), file=out, flush=True)

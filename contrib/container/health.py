"""Asks the server of this container whether it is ready: the health check of the Containerfile."""

import json
import os
import ssl
import sys
import urllib.request
from pathlib import Path

_SECONDS = 20.0


def ask() -> None:
    """Raise OSError, ValueError or KeyError unless the server answers that it is ready."""
    url = json.loads(Path(os.environ["ZONDA_HOME"], "serve.json").read_text())["url"]
    context = ssl.create_default_context()
    context.check_hostname = False  # the certificate has the name for clients, not this address
    context.verify_mode = ssl.CERT_NONE
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
    )
    opener.open(f"{url}/readyz", timeout=_SECONDS).close()


try:
    ask()
except (OSError, ValueError, KeyError) as error:
    sys.exit(f"The server is not ready: {error}")

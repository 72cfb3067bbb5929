"""``python -m zonda``: the command line."""

import sys

from zonda.core.cli.main import main

sys.exit(main())

"""``heat.common.exception`` by another name of 2013."""

from __future__ import annotations

import sys

from heat.common import exception

sys.modules[__name__] = exception

"""``oslo_policy.policy``, that very module, by its name of 2013."""

from __future__ import annotations

import importlib
import sys

sys.modules[__name__] = importlib.import_module("oslo_policy.policy")

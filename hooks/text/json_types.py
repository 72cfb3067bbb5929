"""Names for JSON-shaped data, for signatures."""

from typing import Any

Json = Any
JsonMap = dict[str, Any]

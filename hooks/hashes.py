"""BLAKE2b, without what ``hashlib`` loads for its other algorithms: OpenSSL, 2 ms.

Called by everything that hashes in most commands; what does so rarely imports ``hashlib``.
"""

from __future__ import annotations

try:
    from _blake2 import blake2b as blake2b
except ImportError:  # another Python
    from hashlib import blake2b as blake2b

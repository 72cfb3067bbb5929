"""The runner ``http``: start, poll, cancel, retries.

Registered by ``plugin``; imports ``client`` and ``http_contract``.
"""

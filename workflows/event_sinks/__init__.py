"""The event sinks ``log`` and ``webhook``. Registered by ``plugin``; imports ``client``."""

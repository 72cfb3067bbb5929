"""The runner ``mistral`` and Mistral's resource types.

Registered by ``plugin``; imports ``client`` and ``http_runner``.
"""

"""The resource registry, templates as types, types declared in YAML.

Called by ``validation``, ``files`` and ``definition``; imports ``environment``.
"""

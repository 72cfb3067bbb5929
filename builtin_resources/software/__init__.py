"""Software configuration, components and deployments.

Registered by ``plugin``; imports ``groups`` and hooks.
"""

"""Groups of many resources of one kind, with rolling updates.

Registered by ``plugin``; imports hooks.
"""

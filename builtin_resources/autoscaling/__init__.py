"""Groups that scale by policies, Heat's and Amazon's.

Registered by ``plugin``; imports ``groups`` and hooks.
"""

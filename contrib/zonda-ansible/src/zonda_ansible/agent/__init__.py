"""The part that needs ansible-core: a process of its own, which imports nothing of zonda.

``documentation`` reads what a module says of itself, ``arguments`` what its code declares.
``interfaces`` (outside of this folder) starts it.
"""

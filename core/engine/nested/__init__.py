"""A child stack as the operation of the resource that owns it.

Called by ``execution``, ``preview`` and ``handlers``. Imports ``plan``, ``diff`` and below.
"""

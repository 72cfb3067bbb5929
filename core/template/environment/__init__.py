"""Environment files, their section ``zonda``, policies and schedules.

Called by ``types``; imports ``parameters`` and below.
"""

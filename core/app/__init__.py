"""The composition root: settings become store, plug-ins, engine and clock.

Called by the faces; imports everything below.
"""

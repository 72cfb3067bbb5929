"""The composition root: builds store, plug-ins, engine and clock from the settings.

Called by the faces; imports everything below.
"""

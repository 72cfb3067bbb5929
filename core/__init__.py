"""Everything but plug-ins: template language, store, engine, application and faces.

No plug-in imports it.
"""

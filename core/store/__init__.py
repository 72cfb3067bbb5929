"""The database: tables, statements, migrations, sealing, the engine's lock.

SQL lives here and nowhere else. ``schema.tables`` and ``schema.statements`` are the source; what
runs is ``schema.prepared``, the same statements as text, since importing SQLModel costs more than
a whole ``zonda stack create`` may (``schema.compile`` makes it, a test keeps it in step).
"""

"""The database: tables, prepared statements, migrations, sealing, the engine's lock.

SQL lives here and nowhere else. ``tables.py`` and ``statements.py`` are the source; what runs is
``prepared.py``, the same statements as text, since importing SQLModel costs more than a whole
``zonda stack create`` may (``compile.py`` makes it, a test keeps it in step).
"""

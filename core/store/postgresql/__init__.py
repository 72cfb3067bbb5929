"""PostgreSQL behind the protocols of ``database``, by psycopg 3.

Called by ``write.database`` where the URL says so: nothing of it is imported for SQLite.
"""

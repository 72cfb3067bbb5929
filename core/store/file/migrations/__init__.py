"""One chain of migrations for SQLite and PostgreSQL, run by ``migrate.py``."""

"""Commands of the database itself: its status, check, upgrade, backups."""

"""Faults at members under load; ``python -m tests.acceptance.cluster_storm --help``."""

"""Metrics and traces of a running server: what is counted, and how monitors read it.

Called by ``server``. The only room that knows prometheus_client and OpenTelemetry.
"""

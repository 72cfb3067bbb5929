"""Authentication and resilience of HTTP clients: OAuth2, signatures, circuit breaker, backoff.

Imports hooks.
"""

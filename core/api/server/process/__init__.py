"""The life of the server's process: listening, limits of connections, readiness, its end.

``serving`` is the face. The rest is what uvicorn leaves open, and what a supervisor is told.
"""

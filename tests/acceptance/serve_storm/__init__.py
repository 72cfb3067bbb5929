"""SIGTERM and ``kill -9`` at a server under load, again and again, with streams and writers."""

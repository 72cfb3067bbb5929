"""A storm of ``kill -9`` over one stack; ``python -m tests.acceptance.storm --help``."""

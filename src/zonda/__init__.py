"""zonda: a standalone, pluggable orchestration engine that speaks OpenStack Heat's language."""

__version__ = "0.1.0"

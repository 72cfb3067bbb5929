"""The resource types and constraints of zonda itself, as plug-ins."""

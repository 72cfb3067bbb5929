"""PostgreSQL databases, roles, grants, schemas and extensions as resources of zonda templates.

``plugin`` registers the types, one module holds each. ``managed`` is the life that all named
objects share; ``session`` is the only module that talks to psycopg. Nothing of zonda is used but
``zonda.hooks``.
"""

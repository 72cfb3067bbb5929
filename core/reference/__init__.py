"""The reference of resource types: Markdown, JSON Schema, example templates.

Pure functions over the schemas of ``hooks``. Called by the faces; knows no engine and no store.
"""

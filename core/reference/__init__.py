"""What is known of resource types, written down: for people, and as templates.

Pure functions over the schemas of ``hooks``. Called by the faces; knows no engine and no store.
"""

"""Tables, statements as text, rows.

Called by all of the store and the engine; imports nothing of the store.
"""

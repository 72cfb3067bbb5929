"""From the text of templates to a ``StackDefinition``, as a compiler's front end.

``load`` is the entrance; each folder is a phase and imports only the phases below it. Nothing here
knows the engine, the store or a socket.
"""

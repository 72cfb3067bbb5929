"""Access to the pages: sessions, the sign-in, forms and whose they are.

Called by the interface of the pages. Imports ``http``, ``identity`` and ``service``.
"""

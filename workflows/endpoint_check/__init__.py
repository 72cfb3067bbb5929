"""The check of an HTTP endpoint (``zonda runner check``).

Called by ``core.app``; imports ``http_runner``.
"""

"""The plug-in manager: discovery, validation, drop-in files.

Called by ``core.app``; imports hooks and pluggy.
"""

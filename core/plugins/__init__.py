"""The plug-in manager: discovery, checks, drop-in files.

Called by ``core.app``; imports hooks and pluggy.
"""

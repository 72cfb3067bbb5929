"""The API of workflow runners: base class, messages, contract, settings.

Imports ``text`` and ``errors``.
"""

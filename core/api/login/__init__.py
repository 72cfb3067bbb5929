"""Keystone's login, answered by the service itself, for clients that know no other: ``/v3``.

Only with the setting ``local_identity``; whose a token is says ``identity``.
"""

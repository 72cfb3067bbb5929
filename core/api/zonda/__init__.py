"""zonda's own API, below ``/zonda/v1/``: what Heat's has no words for.

An interface of ``server``; imports ``http`` and what is below it.
"""

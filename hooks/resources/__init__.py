"""Base classes of resource types: ``Resource``, ``NestedStack`` and the run of a workflow.

Imports ``schema`` and ``runners``.
"""

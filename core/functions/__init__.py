"""Intrinsic functions of templates: one module for each family of small classes.

A class parses its arguments, names what it reads (``sources``), finds static faults and resolves.
``versions.build_function_table`` is the table from template version to classes, which ``core.app``
hands to ``core.template.load``. Imports ``hooks.function`` and sources of templates; knows no
stack.
"""

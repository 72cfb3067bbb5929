"""Intrinsic functions: small classes, one file per family, and one table from version to class.

A class parses its arguments, tells what it reads (``sources``), finds static faults and resolves;
it stands on ``hooks.function`` and knows no stack. ``table.functions_for`` is the way in, handed to
``template.stack.load`` by ``core.app``; ``yaql_function.evaluator`` is what a scope answers yaql
with.
"""

"""Intrinsic functions: small classes, and one table from version to functions."""

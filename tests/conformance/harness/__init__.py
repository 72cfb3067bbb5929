"""Plays the conformance cases (FORMAT.md) through the public engine and compares the answers."""

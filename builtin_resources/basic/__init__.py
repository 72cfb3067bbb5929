"""Small types that make nothing outside: values, random strings, delays.

Registered by ``plugin``; imports hooks.
"""

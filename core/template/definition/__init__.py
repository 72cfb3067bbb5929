"""The loader of one template and its result, with fingerprints.

Called by ``nested``; imports all phases below.
"""

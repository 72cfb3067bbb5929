"""The pages of error codes (``pages/*.yaml``), and SARIF.

Called by the faces; whoever raises an error only knows its code.
"""

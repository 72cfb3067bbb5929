"""The pages of error codes (``pages/*.yaml``), SARIF, and the findings of checks.

Called by the faces; whoever raises an error only knows its code.
"""

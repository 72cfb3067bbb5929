"""From text to data with line and column of every node; diagnostics; the bundle of all inputs.

Called by all of template; imports hooks.
"""

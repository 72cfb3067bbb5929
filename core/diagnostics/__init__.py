"""What the codes of errors and warnings mean: a page for each, and reports made from them.

The pages are data (``pages/*.yaml``). Faces read them; whoever raises an error only knows its code.
"""

"""What is told of a stack's past and present: generations, their differences, reasons, its graph.

Reads only; every text that leaves this room is without hidden values. Used by ``core/app/app.py``.
"""

"""The workflow services of a home: their records, their processes, the check of an endpoint.

Used by ``core/app`` alone, which may not be imported from here.
"""

"""Drift: whether what was made is still as it was made, and putting it right.

``asking`` takes the actions up, ``checking`` runs a check with what ``observing`` sees of each
resource and ``differing`` says of it, ``storing`` keeps the end of it; ``firing`` is for schedules,
``repairing`` makes a plan of what was found. A check changes nothing of stacks and resources: all
that it writes stands in tables of its own.
"""

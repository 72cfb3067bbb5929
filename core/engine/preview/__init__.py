"""Plans that are only shown: what an action would do, worked out beside whatever is running.

``walk`` goes through the graph in order and asks ``comparing``, as every operation does, with what
is not known yet left open; ``document`` says it to people and programs; ``promise`` is what has to
be the same when such a plan is carried out.
"""

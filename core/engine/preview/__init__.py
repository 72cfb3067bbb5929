"""Plans that are only shown, and plan files.

``walk`` goes through the graph in order and asks ``diff``, as every operation does, with what is
not known yet left open; ``document`` is the result for people and programs; ``plan_file`` holds
what has to be the same when such a plan is applied. Called by ``handlers`` and the faces; imports
``nested``, ``plan``, ``diff`` and below.
"""

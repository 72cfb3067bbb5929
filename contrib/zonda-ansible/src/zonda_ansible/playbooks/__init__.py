"""Playbooks and roles as workflows: runners of kind ``ansible``.

``runner`` answers zonda, ``names`` finds the playbook that a workflow's name means, ``command``
makes the command of a run, ``runs`` keeps one folder for each, ``outcome`` says what came of it,
and ``remains`` ends what a killed one has left. In the process of a run ``launch`` hands secrets
over, and ``callbacks`` (in Ansible itself) reports.
"""

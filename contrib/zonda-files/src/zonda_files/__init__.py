"""Files, directories and commands of this machine as resources of zonda templates.

``plugin`` registers the types; ``file``, ``directory`` and ``command`` hold one each. Nothing of
zonda is used but ``zonda.hooks``.
"""

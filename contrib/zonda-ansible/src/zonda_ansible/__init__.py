"""Ansible modules as resources of zonda templates.

``index`` knows the names of all installed modules, ``interfaces`` the options and return values of
one, ``schemata`` makes a type's schemas of these. What needs ansible-core runs in a process of its
own (the folder ``agent``), so that zonda's process never imports it. Nothing of zonda is used but
``zonda.hooks``.
"""

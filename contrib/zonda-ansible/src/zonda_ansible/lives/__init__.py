"""The lives of what modules make: the base of all types of modules.

``life_cycles`` knows how a thing is named and removed, ``runs`` begins and follows runs of modules,
``observations`` looks at what is there, ``differences`` reads what a module tells of it, and
``module_runs`` makes, changes and removes.
"""

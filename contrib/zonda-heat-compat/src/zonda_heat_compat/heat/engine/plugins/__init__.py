"""Where Heat put the files of its plug-in folders: they import each other from here.

Its path is that of every folder whose files zonda loads.
"""

import sys

for _name, _module in list(sys.modules.items()):
    if _name.startswith("zonda_dropins_") and "." not in _name:
        __path__ = [*__path__, *_module.__path__]

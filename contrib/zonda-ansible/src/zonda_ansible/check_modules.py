"""Makes the schemas of all installed modules and lists those that have none, with the reason::

    python -m zonda_ansible.check_modules [COLLECTION]...

Ends with 1 if there are any. What it reads is kept, so that later uses do not wait for it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from zonda.hooks import SchemaError

from .index import Index, load_index
from .interfaces import NoInterface, load_interface
from .schemata import make_attributes_schema, make_properties_schema


def find_faults(index: Index, modules: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The modules without schemas, each with the reason."""
    for module in modules:
        try:
            interface = load_interface(index, module)
            make_properties_schema(interface)
            make_attributes_schema(interface)
        except (NoInterface, SchemaError) as error:
            yield module, str(error)


def main(collections: Sequence[str]) -> int:
    """Print the faults and how many modules there are."""
    index = load_index()
    modules = [
        name
        for name in index.modules
        if not collections or index.get_collection(name) in collections
    ]
    faults = 0
    for module, reason in find_faults(index, modules):
        faults += 1
        print(f"{module}: {reason}", flush=True)
    print(f"{len(modules)} modules, {faults} without a schema")
    return 1 if faults or not modules else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

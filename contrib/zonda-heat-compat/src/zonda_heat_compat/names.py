"""Lends the name ``heat`` to this distribution, unless somebody else owns it.

Runs at the start of every Python process of the environment (a ``.pth`` line), so it imports only
what is imported anyway, and the rest when somebody asks for ``heat``.
"""

import os
import sys

TYPE_CHECKING = False  # typing's own takes longer to import than all of this
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec, SourceFileLoader
    from types import ModuleType

#: Folders that hold a package ``heat`` (``pip install --no-deps --target FOLDER openstack-heat``).
#: Modules that plug-ins import and that are not provided here are looked for in them.
EXTRA_PATH = "HEAT_COMPAT_PATH"

#: Below it Heat's own files, where there are any, come before what is provided here.
_THEIRS = (
    *("heat.engine.resources.openstack.", "heat.engine.clients.os."),
    "heat.engine.clients.progress.",
)

#: Of what plug-ins of 2013 to 2016 import, what Heat itself no longer has.
_GONE = (
    *("heat.openstack.", "heat.engine.watchrule.", "heat.engine.resources.nova_utils."),
    *("heat.engine.resources.server.", "heat.engine.resources.instance."),
    *("heat.engine.resources.autoscaling.", "heat.engine.resources.loadbalancer."),
)

_HERE = os.path.dirname(os.path.abspath(__file__))


class Names:
    """Finds ``heat`` and what is below it: here, and then in the folders of ``EXTRA_PATH``.

    ``beside``: the folder of an installed openstack-heat, whose place is taken in this process.
    """

    beside: "str | None" = None

    def find_spec(
        self,
        name: str,
        path: "Sequence[str] | None" = None,
        target: "ModuleType | None" = None,
    ) -> "ModuleSpec | None":
        """The module, or None where it is not ours. Raises ImportError for what nobody has."""
        top = name.partition(".")[0]
        if top == "oslo":
            return self._old_oslo(name)
        if top != "heat" or not self._is_ours(name):
            return None
        from importlib.machinery import PathFinder

        inner = os.path.join(*name.split(".")[:-1]) if "." in name else ""
        roots = [_HERE, *extra_folders(), *([self.beside] if self.beside else ())]
        if f"{name}.".startswith(_THEIRS):
            roots.append(roots.pop(0))
        places = [os.path.join(root, inner) for root in roots]
        for place in (*places, *(path or ())):
            spec = PathFinder.find_spec(name, [place])
            if spec is not None and spec.origin is not None:
                if name == "heat":
                    spec.loader = _make_data_loader(spec.origin, roots[1:])
                return spec
        # Without the name of the module, since Python hides the error of one that is named.
        if f"{name}.".startswith(_GONE):
            raise ModuleNotFoundError(
                f"zonda-heat-compat does not provide {name}, and Heat of today has it no more"
            )
        raise ModuleNotFoundError(
            f"zonda-heat-compat does not provide {name}. To have Heat's own file, run pip install "
            f"'zonda-heat-compat[openstack]', or pip install --no-deps --target FOLDER "
            f"openstack-heat and set {EXTRA_PATH}=FOLDER"
        )

    def _is_ours(self, name: str) -> bool:
        if name == "heat":
            return self.beside is not None or owner() is None
        return getattr(sys.modules.get("heat"), "__zonda__", False)

    def _old_oslo(self, name: str) -> "ModuleSpec | None":
        from .old_oslo import spec_for  # only plug-ins of 2013 and 2014 ask for it

        return spec_for(name)


def _make_data_loader(origin: str, others: "list[str]") -> "SourceFileLoader":
    """A loader of the package that gives Heat's data files, too (``pkgutil.get_data``)."""
    from importlib.machinery import SourceFileLoader

    here = os.path.dirname(origin)

    class Loader(SourceFileLoader):
        def get_data(self, path: str) -> bytes:
            inner = os.path.relpath(path, here)
            places = [path, *(os.path.join(each, "heat", inner) for each in others)]
            return super().get_data(next(filter(os.path.exists, places), path))

    return Loader("heat", origin)


def extra_folders() -> list[str]:
    """The folders that ``EXTRA_PATH`` names."""
    return [each for each in os.environ.get(EXTRA_PATH, "").split(os.pathsep) if each]


def owner() -> str | None:
    """The file of another distribution's ``heat``; None where the name is free."""
    from importlib.machinery import PathFinder

    found = PathFinder.find_spec("heat")
    return None if found is None else found.origin  # a folder without __init__.py has no origin


def folder_of(file: str) -> str:
    """The folder that the package of an ``__init__.py`` stands in."""
    return os.path.dirname(os.path.dirname(file))


def is_taken() -> bool:
    """Whether another ``heat`` is imported already, which cannot be exchanged any more."""
    return not getattr(sys.modules.get("heat"), "__zonda__", "heat" not in sys.modules)


def lend(beside: "str | None" = None) -> None:
    """Make ``import heat`` find this distribution. Once is enough, more does no harm."""
    lent = next((finder for finder in sys.meta_path if isinstance(finder, Names)), None)
    if lent is None:
        lent = Names()
        sys.meta_path.insert(0, lent)
    lent.beside = beside or lent.beside

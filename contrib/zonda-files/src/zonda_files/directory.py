"""``Zonda::Files::Directory``: one directory with its mode and owner."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from zonda.hooks import (
    NotFound,
    PropertyErrors,
    Resource,
    ResourceDefinition,
    ResourceFailure,
    attributes,
    check_live_state,
    constraints,
    properties,
    support,
)

from . import permissions, writing
from .ownership import Ownership
from .paths import absolute, kind_of, status, sync_directory, told
from .permissions import GROUP, MODE, OWNER, Permissions

PATH, PARENTS, ADOPT, ON_DELETE = "path", "parents", "adopt", "on_delete"
EMPTY, CONTENTS, KEEP = "empty", "contents", "keep"

_Schema = properties.Schema


class Directory(Resource):
    """A directory on the machine that zonda runs on.

    A directory that is there already is left alone unless `adopt` is true, and is then never
    removed. What somebody changes by hand (mode, owner, removal) is noticed by a check and put
    right by the next update. Deletion removes the directory if it is empty; say
    `on_delete: contents` to remove what is in it as well.
    """

    support_status = support.SupportStatus(version="0.1.0")
    start_policy = "idempotent"
    repairs_in_place = True
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        PATH: _Schema(
            _Schema.STRING,
            "Where the directory is: an absolute path without `..`. Another path is another "
            "directory.",
            required=True,
            update_allowed=True,
        ),
        PARENTS: _Schema(
            _Schema.BOOLEAN,
            "Whether directories that lead there are made, too. Those that were made are removed "
            "with it, if they are empty then.",
            default=False,
            update_allowed=True,
        ),
        **permissions.schema("0755"),
        ADOPT: _Schema(
            _Schema.BOOLEAN,
            "Whether a directory that is there already is used. Its mode and owner are set; what "
            "is in it is left alone, and deletion does not remove it.",
            default=False,
            update_allowed=True,
        ),
        ON_DELETE: _Schema(
            _Schema.STRING,
            "What deletion does with a directory that this resource made: removes it if it is "
            "empty and leaves it otherwise (`empty`), removes it with everything in it "
            "(`contents`), or leaves it (`keep`).",
            default=EMPTY,
            constraints=[constraints.AllowedValues([EMPTY, CONTENTS, KEEP])],
            update_allowed=True,
        ),
    }
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        PATH: attributes.Schema("Where the directory is.", type=attributes.Schema.STRING),
        MODE: attributes.Schema("The permissions in octal.", type=attributes.Schema.STRING),
        OWNER: attributes.Schema("The name of the owner.", type=attributes.Schema.STRING),
        GROUP: attributes.Schema("The name of the group.", type=attributes.Schema.STRING),
        "entries": attributes.Schema(
            "The names in the directory, sorted.",
            type=attributes.Schema.LIST,
            cache_mode=attributes.Schema.CACHE_NONE,
        ),
    }

    def validate(self) -> None:
        """The path, and the mode as it was written."""
        errors = PropertyErrors(self)
        errors.check(PATH, absolute, self.properties[PATH])
        errors.check(MODE, permissions.check_quoted, self.properties.get_user_value(MODE))
        errors.raise_all()

    def needs_replace_failed(self) -> bool:
        """False: a directory that was begun is completed in place."""
        return self.resource_id is None

    def needs_replace_with_prop_diff(
        self, changed: Sequence[str], after: properties.Properties, before: properties.Properties
    ) -> bool:
        """Another path is another directory; another way to write the same path is not."""
        return absolute(after[PATH]) != absolute(before[PATH])

    # -- life cycle -------------------------------------------------------------------------------

    def handle_create(self) -> None:
        """Make it, unless somebody else's is there."""
        self._make_or_take(self.properties)

    def handle_update(
        self,
        json_snippet: ResourceDefinition,
        tmpl_diff: Mapping[str, Any],
        prop_diff: Mapping[str, Any],
    ) -> None:
        """Make it what the template says, whatever it has become."""
        self._make_or_take(self.make_properties(json_snippet))

    def handle_delete(self) -> None:
        """Remove what this resource made, as far as it may."""
        path, policy = self._path, self.properties[ON_DELETE]
        with told(path, "removed"):
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                self._temporary.rmdir()
            if policy != KEEP:
                self._remove(status(path), policy)
                self._remove_parents()

    def handle_check(self) -> None:
        """Fail if it is gone or has changed."""
        check_live_state(self)

    def handle_adopt(self, resource_data: Mapping[str, Any]) -> None:
        """Take over the directory at the path; from then on it is as if it had been made here."""
        super().handle_adopt({**resource_data, "resource_id": str(self._path)})
        with told(self._path, "adopted"):
            Ownership(self).note(self._found())

    def get_live_state(self) -> Mapping[str, Any]:
        """Path, mode, owner and group as they are."""
        with told(self._path, "read"):
            found = self._found()
        return {
            PATH: self.properties[PATH],
            **permissions.observed(found, self.properties),
        }

    def _resolve_attribute(self, name: str) -> Any:
        if name == PATH:
            return str(self._path)
        found = status(self._path)
        if found is None or not stat.S_ISDIR(found.st_mode):
            return None
        if name == "entries":
            return sorted(os.fsencode(entry).decode("utf-8", "replace") for entry in self._names())
        names = {
            MODE: f"{stat.S_IMODE(found.st_mode):04o}",
            OWNER: permissions.user_name(found.st_uid),
            GROUP: permissions.group_name(found.st_gid),
        }
        return names[name]

    # -- the steps --------------------------------------------------------------------------------

    @property
    def _path(self) -> Path:
        return absolute(self.properties[PATH])

    @property
    def _temporary(self) -> Path:
        return writing.temporary(self._path, self.uuid.replace("-", "")[-12:])

    def _names(self) -> list[str]:
        return os.listdir(self._path)

    def _found(self) -> os.stat_result:
        found = status(self._path)
        if found is None:
            raise NotFound("directory", str(self._path))
        return self._checked(found)

    def _checked(self, found: os.stat_result) -> os.stat_result:
        if not stat.S_ISDIR(found.st_mode):
            raise ResourceFailure(
                f"{self._path} is {kind_of(found)}, not a directory: remove it, or give another "
                "path"
            )
        return found

    def _make_or_take(self, wanted: properties.Properties) -> None:
        path, permitted = self._path, Permissions.of(wanted)
        with told(path, "made"):
            found = status(path)
            mine = self.resource_id is not None or Ownership(self).has(found)
            if found is not None:
                self._checked(found)
                self._refuse_to_take(mine)
            if found is None:
                self._make(path, wanted[PARENTS])
            self._set_permissions(permitted)
        self.resource_id_set(str(path))

    def _refuse_to_take(self, mine: bool) -> None:
        if not mine and not self.properties[ADOPT]:
            raise ResourceFailure(
                f"{self._path} is there already and was not made by this resource: remove it, give "
                f"another path, or say `adopt: true` to use it"
            )

    def _make(self, path: Path, parents: bool) -> None:
        if parents:
            self._make_parents(path.parent)
        made = self._temporary
        with contextlib.suppress(FileNotFoundError):
            made.rmdir()
        made.mkdir(mode=0o700)
        Ownership(self).note(made.lstat())
        # Takes the place of nothing but an empty directory that has just appeared.
        os.rename(made, path)
        sync_directory(path.parent)

    def _make_parents(self, parent: Path) -> None:
        missing = [each for each in (parent, *parent.parents) if not each.exists()]
        noted = self._parents()
        names = [*noted, *(str(each) for each in reversed(missing) if str(each) not in noted)]
        if names != noted:
            self.data_set("parents", json.dumps(names))
        for each in reversed(missing):
            each.mkdir(exist_ok=True)
            sync_directory(each.parent)

    def _parents(self) -> list[str]:
        return list(json.loads(self.data().get("parents", "[]")))

    def _set_permissions(self, wanted: Permissions) -> None:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self._path, flags)
        try:
            wanted.apply(descriptor)
        finally:
            os.close(descriptor)

    def _remove(self, found: os.stat_result | None, policy: str) -> None:
        if found is None:
            return
        if not stat.S_ISDIR(found.st_mode) or not Ownership(self).has(found):
            self.context.progress(f"{self._path} stays: it was not made by this resource")
            return
        if policy == CONTENTS:
            shutil.rmtree(self._path)
        else:
            self._remove_if_empty(self._path)
        sync_directory(self._path.parent)

    def _remove_parents(self) -> None:
        for name in reversed(self._parents()):
            with contextlib.suppress(FileNotFoundError):
                self._remove_if_empty(Path(name))

    def _remove_if_empty(self, path: Path) -> None:
        try:
            path.rmdir()
        except OSError:
            left = len(os.listdir(path))
            if not left:
                raise
            self.context.progress(f"{path} stays: there is still something in it ({left} entries)")

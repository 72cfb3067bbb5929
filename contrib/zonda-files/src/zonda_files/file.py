"""``Zonda::Files::File``: one file with its content, mode and owner."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

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

PATH, OVERWRITE, ON_DELETE = "path", "overwrite", "on_delete"
CONTENT, BASE64, HIDDEN = "content", "content_base64", "hidden_content"
CONTENTS: Final = (CONTENT, BASE64, HIDDEN)
CHECKSUM, SIZE = "checksum", "size"
OWN, ALWAYS, KEEP = "own", "always", "keep"
LARGEST = 64 * 1024 * 1024

_Schema = properties.Schema


class File(Resource):
    """A file on the machine that zonda runs on.

    It is written as a whole or not at all. A file that is there already and was not made by this
    resource is left alone unless `overwrite` is true. What somebody changes by hand (content,
    mode, owner, removal) is noticed by a check and put right by the next update. Deletion removes
    the file that this resource made; one that somebody has put in its place stays.
    """

    support_status = support.SupportStatus(version="0.1.0")
    start_policy = "idempotent"
    repairs_in_place = True
    exposes_properties: ClassVar[Mapping[str | None, Sequence[str]]] = {
        CHECKSUM: CONTENTS,
        SIZE: CONTENTS,
    }
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        PATH: _Schema(
            _Schema.STRING,
            "Where the file stands: an absolute path without `..`. The directory must be there, "
            "and the last part must not be a symbolic link. Another path is another file.",
            required=True,
            update_allowed=True,
        ),
        CONTENT: _Schema(
            _Schema.STRING,
            "The content as text, written in UTF-8.",
            default="",
            update_allowed=True,
        ),
        BASE64: _Schema(
            _Schema.STRING, "The content in base64, for what is not text.", update_allowed=True
        ),
        HIDDEN: _Schema(
            _Schema.STRING,
            "The content as text that zonda never shows. (`content` is as well protected where it "
            "is made of hidden parameters or attributes.)",
            update_allowed=True,
            hidden=True,
        ),
        **permissions.schema("0644"),
        OVERWRITE: _Schema(
            _Schema.BOOLEAN,
            "Whether a file that is there already is taken over and replaced. It is then this "
            "resource's own and is removed with it.",
            default=False,
            update_allowed=True,
        ),
        ON_DELETE: _Schema(
            _Schema.STRING,
            "What deletion removes: the file that this resource made (`own`), whichever file "
            "stands there (`always`), or nothing (`keep`).",
            default=OWN,
            constraints=[constraints.AllowedValues([OWN, ALWAYS, KEEP])],
            update_allowed=True,
        ),
    }
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        PATH: attributes.Schema("Where the file stands.", type=attributes.Schema.STRING),
        CHECKSUM: attributes.Schema(
            "The SHA-256 of the content, in hexadecimal digits; changes whenever the content does.",
            type=attributes.Schema.STRING,
        ),
        SIZE: attributes.Schema("The number of bytes.", type=attributes.Schema.NUMBER),
        MODE: attributes.Schema("The permissions in octal.", type=attributes.Schema.STRING),
        OWNER: attributes.Schema("The name of the owner.", type=attributes.Schema.STRING),
        GROUP: attributes.Schema("The name of the group.", type=attributes.Schema.STRING),
    }

    # -- validation -------------------------------------------------------------------------------

    def validate(self) -> None:
        """The path, the mode as it was written, and one content at most."""
        errors = PropertyErrors(self)
        errors.check(PATH, absolute, self.properties[PATH])
        errors.check(MODE, permissions.check_quoted, self.properties.get_user_value(MODE))
        given = [key for key in CONTENTS if self.properties.get_user_value(key) is not None]
        if len(given) > 1:
            errors.add(given[1], f"give one of {', '.join(CONTENTS)}, not {' and '.join(given)}")
        errors.check(BASE64, _content, self.properties)
        errors.raise_all()

    def needs_replace_failed(self) -> bool:
        """False: a file that was begun is completed in place."""
        return self.resource_id is None

    def needs_replace_with_prop_diff(
        self, changed: Sequence[str], after: properties.Properties, before: properties.Properties
    ) -> bool:
        """Another path is another file; another way to write the same path is not."""
        return absolute(after[PATH]) != absolute(before[PATH])

    # -- life cycle -------------------------------------------------------------------------------

    def handle_create(self) -> None:
        """Write the file, unless somebody else's stands there."""
        path = self._path
        with told(path, "looked at"):
            found = status(path)
        mine = self.resource_id is not None or Ownership(self).has(found)
        if found is not None and not mine:
            self._refuse_to_take(found)
        self._write(self.properties, found)
        self.resource_id_set(str(path))

    def handle_update(
        self,
        json_snippet: ResourceDefinition,
        tmpl_diff: Mapping[str, Any],
        prop_diff: Mapping[str, Any],
    ) -> None:
        """Make it what the template says, whatever it has become."""
        wanted = self.make_properties(json_snippet)
        with told(self._path, "looked at"):
            found = status(self._path)
        if found is None or self._is_other(found, _content(wanted)):
            self._write(wanted, found)
        else:
            self._set_permissions(Permissions.of(wanted))
        self.resource_id_set(str(self._path))

    def handle_delete(self) -> None:
        """Remove what this resource made."""
        path, policy = self._path, self.properties[ON_DELETE]
        with told(path, "removed"):
            writing.temporary(path, self._tag).unlink(missing_ok=True)
            found = status(path)
            if found is None or policy == KEEP:
                return
            always = policy == ALWAYS and self.resource_id is not None
            if stat.S_ISREG(found.st_mode) and (always or Ownership(self).has(found)):
                path.unlink(missing_ok=True)
                sync_directory(path.parent)
            else:
                self.context.progress(f"{path} stays: {kind_of(found)} that was not made here")

    def handle_check(self) -> None:
        """Fail if it is gone or has changed."""
        check_live_state(self, CONTENTS)

    def handle_adopt(self, resource_data: Mapping[str, Any]) -> None:
        """Take over the file at the path; from then on it is as if it had been made here."""
        super().handle_adopt({**resource_data, "resource_id": str(self._path)})
        with told(self._path, "adopted"):
            Ownership(self).note(self._regular(self._found()))

    def get_live_state(self) -> Mapping[str, Any]:
        """Path, content, mode, owner and group as they are."""
        with told(self._path, "read"):
            found = self._regular(self._found())
            return {
                PATH: self.properties[PATH],
                **self._shown_content(found),
                **permissions.observed(found, self.properties),
            }

    def _resolve_attribute(self, name: str) -> Any:
        if name == PATH:
            return str(self._path)
        found = status(self._path)
        if found is None or not stat.S_ISREG(found.st_mode):
            return None
        if name == SIZE:
            return found.st_size
        if name == CHECKSUM:
            with open(os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
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
    def _tag(self) -> str:
        return self.uuid.replace("-", "")[-12:]

    def _refuse_to_take(self, found: os.stat_result) -> None:
        self._regular(found)
        if not self.properties[OVERWRITE]:
            raise ResourceFailure(
                f"{self._path} is there already and was not made by this resource: remove it, give "
                f"another path, or say `overwrite: true` to replace it"
            )

    def _write(self, wanted: properties.Properties, found: os.stat_result | None) -> None:
        owned = Ownership(self)
        if found is not None:
            self._regular(found)
        with told(self._path, "written"):
            writing.write(
                self._path,
                self._tag,
                _content(wanted),
                Permissions.of(wanted),
                lambda made: owned.note(made, found),
                replace=found is not None,
            )

    def _set_permissions(self, wanted: Permissions) -> None:
        with told(self._path, "changed"):
            # Opened by name once: what is changed is what was looked at.
            descriptor = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                Ownership(self).note(os.fstat(descriptor))
                wanted.apply(descriptor)
            finally:
                os.close(descriptor)

    def _found(self) -> os.stat_result:
        found = status(self._path)
        if found is None:
            raise NotFound("file", str(self._path))
        return found

    def _regular(self, found: os.stat_result) -> os.stat_result:
        if not stat.S_ISREG(found.st_mode):
            raise ResourceFailure(
                f"{self._path} is {kind_of(found)}, not a file: remove it, or give the path of a "
                "file"
            )
        return found

    def _content_there(self, found: os.stat_result) -> bytes | None:
        """The content; None where it cannot be what is wanted."""
        self._regular(found)
        with told(self._path, "read"):
            content = writing.read(self._path, LARGEST)
        return content if len(content) <= LARGEST else None

    def _is_other(self, found: os.stat_result, wanted: bytes) -> bool:
        if found.st_size != len(wanted) or not os.access(self._path, os.R_OK):
            return True
        return self._content_there(found) != wanted

    def _shown_content(self, found: os.stat_result) -> dict[str, str]:
        used = next((key for key in (BASE64, HIDDEN) if self.properties[key]), CONTENT)
        content = self._content_there(found)
        if content is None:
            return {used: f"<{found.st_size} bytes>"}
        if used == BASE64:
            same = content == _content(self.properties)
            shown = self.properties[BASE64] if same else base64.b64encode(content).decode()
        else:
            shown = content.decode("utf-8", "backslashreplace")
        return {used: shown}


def _content(props: properties.Properties) -> bytes:
    """The bytes that the template gives; none if it gives none."""
    if props.convert(BASE64) is None:
        return str(props[HIDDEN] or props[CONTENT]).encode()
    try:
        return base64.b64decode("".join(props[BASE64].split()), validate=True)
    except (binascii.Error, ValueError):
        raise ResourceFailure(f"{BASE64} is not base64") from None

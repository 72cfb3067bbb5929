"""``OS::Heat::MultipartMime``: configurations put together to one message for cloud-init."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from posixpath import splitext
from typing import TYPE_CHECKING, Any, ClassVar

from zonda.hooks import ResourceFailure, SupportStatus, constraints, properties

from ..schema import make_text_schema
from .config import Configuration
from .schema import CONFIG, GROUP, GROUP_SCHEMA, TYPE

if TYPE_CHECKING:
    from email.message import Message
    from email.mime.text import MIMEText

PARTS, FILENAME, SUBTYPE = "parts", "filename", "subtype"
TEXT, MULTIPART = "text", "multipart"
_MESSAGE = "message"
_ID_LENGTH = 36

_Schema = properties.Schema


class MultipartMime(Configuration):
    """Parts, given as text or by the id of a configuration, as one MIME message.

    A part of type multipart is such a message itself: its parts become parts of this one. The
    message is put together once, when the resource is made.
    """

    support_status = SupportStatus(version="2014.1")
    exposes_properties: ClassVar[Mapping[str | None, Sequence[str]]] = {CONFIG: (PARTS,)}
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        PARTS: _Schema(
            _Schema.LIST,
            "The parts of the message.",
            default=[],
            schema=_Schema(
                _Schema.MAP,
                schema={
                    CONFIG: make_text_schema(
                        "The text of the part, or the id of a config.", required=True
                    ),
                    FILENAME: make_text_schema("The name of the file that the part is."),
                    TYPE: make_text_schema(
                        "Whether the part is one text, or a message of parts.",
                        default=TEXT,
                        constraints=[constraints.AllowedValues([TEXT, MULTIPART])],
                    ),
                    SUBTYPE: make_text_schema(
                        "The subtype of the part's type, e.g. x-shellscript."
                    ),
                },
            ),
        ),
        GROUP: GROUP_SCHEMA,
    }

    def handle_create(self) -> None:
        """Put the message together."""
        self.data_set(_MESSAGE, self._build_message(), redact=True)
        super().handle_create()

    def handle_adopt(self, resource_data: Mapping[str, Any]) -> None:
        """The parts are those of the template."""
        self.handle_create()

    def configuration(self) -> str | None:
        """The message."""
        return self.data().get(_MESSAGE)

    def _build_message(self) -> str:
        from email.mime.multipart import MIMEMultipart  # 0.05 s that few stacks need to spend

        boundary = f"==============={self.context.random.getrandbits(62):019d}=="
        parts = [part for item in self.properties[PARTS] for part in self._build_parts(item)]
        return MIMEMultipart(boundary=boundary, _subparts=parts).as_string()

    def _build_parts(self, item: Mapping[str, Any]) -> list[MIMEText]:
        content = self._find_content(item[CONFIG])
        if item[TYPE] == MULTIPART:
            return _split(content)
        return [_build_part(content, item[SUBTYPE] or "", item[FILENAME] or "")]

    def _find_content(self, given: str) -> str:
        """The content of a part: the configuration that has this id, else the text itself."""
        found = self.context.find_resource(given) if len(given) == _ID_LENGTH else None
        if not isinstance(found, Configuration):
            return given
        known = found.configuration()
        if isinstance(known, Mapping):
            raise ResourceFailure(f"{found.name} is a map, which cannot be a part of a message")
        return known or ""


def _split(message: str) -> list[MIMEText]:
    from email import message_from_string

    known = message_from_string(message)
    if not known.is_multipart():
        return []
    parts: Any = known.get_payload()
    return [
        _build_part(_decode_part(part), part.get_content_subtype(), part.get_filename() or "")
        for part in parts
    ]


def _decode_part(part: Message) -> str:
    if part.is_multipart():
        return part.as_string()
    content: Any = part.get_payload(decode=True)
    return str(content.decode(part.get_content_charset("utf-8"), errors="replace"))


def _build_part(content: str, subtype: str, filename: str) -> MIMEText:
    from email.mime.text import MIMEText

    if not subtype and filename:
        subtype = splitext(filename)[0]  # as Heat has it: the name without its ending
    made = MIMEText(content, _subtype=subtype or "plain")
    if filename:
        made.add_header("Content-Disposition", "attachment", filename=filename)
    return made

"""The form of a template: what it brings, as an action, and what it shows again after a fault.

Nothing of a form makes the server read its own disk: what a template names comes with it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator

from zonda.core.engine.actions import CreateStack, UpdateStack
from zonda.core.store.read.views import StackView
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import UsageError
from zonda.hooks.records import dataclass, field

from ..access.forms import Form, Upload
from .file_links import link_files

_LONGEST_TAG = 80
_NAMES = ("name", "template", "environment", "tags", "timeout_mins", "rollback", "existing")


@dataclass(frozen=True)
class Inputs:
    """The fields of a form of a template. ``files``: what the template names, by name.

    ``environments``: files of environments, in their order.
    """

    name: str = ""
    template: str = ""
    environment: str = ""
    tags: str = ""
    timeout_mins: str = ""
    rollback: str = ""
    existing: str = ""
    environments: tuple[tuple[str, str], ...] = ()
    files: tuple[tuple[str, str], ...] = field(default=())

    @property
    def bundle(self) -> Bundle:
        """The template with all that came with it; raises UsageError."""
        if any(not name for name, _ in (*self.environments, *self.files)):
            raise UsageError(
                "A pasted file has no name.", hint="Give it the name that the template uses."
            )
        pasted = (("environment", self.environment),) if self.environment.strip() else ()
        return Bundle(
            template=self.template,
            environment_files=(*self.environments, *pasted),
            files={**dict(self.environments), **dict(self.files)},
        )

    def _link_bundle(self) -> Bundle:
        """Link the bundle; raises UsageError and ValidationErrors."""
        texts = dict(self.files)
        for name, text in self.files:
            if texts[name] != text:
                raise UsageError(
                    f"Two different files are called {name}.",
                    hint="Choose the folder that has them.",
                )
        return link_files(self.bundle)

    @property
    def tag_list(self) -> tuple[str, ...]:
        """The tags; raises UsageError for one that is too long."""
        tags = tuple(tag.strip() for tag in self.tags.split(",") if tag.strip())
        for tag in tags:
            if len(tag) > _LONGEST_TAG:
                raise UsageError(f"The tag {tag} is longer than {_LONGEST_TAG} characters.")
        return tags

    @property
    def minutes(self) -> int | None:
        """The timeout; raises UsageError for what is no number of minutes."""
        text = self.timeout_mins.strip()
        if not text:
            return None
        if not text.isdecimal() or len(text) > 6 or not int(text):
            raise UsageError(f"{text} is no number of minutes.")
        return int(text)

    def build_creation(self, minutes: int) -> CreateStack:
        """The creation; ``minutes``: the timeout where the form has none."""
        if not self.template.strip():
            raise UsageError("There is no template.", hint="Choose a file, or paste the text.")
        if not self.name.strip():
            raise UsageError("The stack needs a name.")
        return CreateStack(
            self.name.strip(),
            self._link_bundle(),
            timeout_mins=self.minutes or minutes,
            rollback=bool(self.rollback),
            tags=self.tag_list,
        )

    def build_update(self, stack: StackView) -> UpdateStack:
        """The update; with ``existing`` what is not given stays as it is."""
        if not self.template.strip() and not self.existing:
            raise UsageError(
                "There is no template.",
                hint="Choose a file, paste the text, or keep what the stack has.",
            )
        return UpdateStack(
            stack.id,
            self._link_bundle(),
            existing=bool(self.existing),
            timeout_mins=self.minutes,
            rollback=bool(self.rollback),
            tags=self.tag_list,
        )


def read_inputs(form: Form) -> Inputs:
    """The fields of a form; an uploaded file counts more than a pasted text."""
    given = {name: form.get(name) for name in _NAMES}
    for upload in form.list_files("template_file"):
        given["template"] = upload.text
    environments = tuple((each.name, each.text) for each in form.list_files("environments"))
    files = tuple((each.name, _encode(each)) for each in form.list_files("files"))
    return Inputs(
        **given,
        environments=(*_read_pasted(form, "environment_file", environments), *environments),
        files=(*_read_pasted(form, "file", files), *files),
    )


def _encode(upload: Upload) -> str:
    """The text of a file; what is no text travels as base64, as from the command line."""
    try:
        return upload.content.decode("utf-8")
    except UnicodeDecodeError:
        return base64.encodebytes(upload.content).decode("ascii")


def _read_pasted(
    form: Form, kind: str, uploads: tuple[tuple[str, str], ...]
) -> Iterator[tuple[str, str]]:
    """The files that were typed, or that came back with the form and were not chosen anew."""
    chosen = dict(uploads)
    names, texts = form.fields.get(f"{kind}_name", ()), form.fields.get(f"{kind}_text", ())
    for name, text in zip(names, texts, strict=False):
        if (name.strip() or text.strip()) and name.strip() not in chosen:
            yield name.strip(), text.replace("\r\n", "\n")

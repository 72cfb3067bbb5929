"""``Frozen::Note``, the type of the stacks in the frozen databases: what is outside is its data."""

from zonda.hooks import attributes, properties, resource
from zonda.hooks.errors import NotReady, ResourceFailure

Schema = properties.Schema


class Note(resource.Resource):
    """A text. A signal changes it behind the template's back."""

    start_policy = "idempotent"
    properties_schema = {
        "text": Schema(Schema.STRING, "What is kept.", required=True, update_allowed=True),
        "secret": Schema(Schema.STRING, "Hidden.", update_allowed=True, hidden=True),
        "name": Schema(Schema.STRING, "Another name is another note."),
        "fails": Schema(Schema.BOOLEAN, "Fail.", default=False, update_allowed=True),
        "waits": Schema(Schema.BOOLEAN, "Never end.", default=False, update_allowed=True),
    }
    attributes_schema = {
        "text": attributes.Schema("What is kept.", type=attributes.Schema.STRING),
        "secret": attributes.Schema("Hidden.", type=attributes.Schema.STRING, hidden=True),
    }

    def _write(self, values):
        if values["fails"]:
            raise ResourceFailure("This note fails.")
        self.data_set("live", values["text"])
        return {"waits": values["waits"]}

    def handle_create(self):
        self.resource_id_set(f"note-{self.name}")
        return self._write(self.properties)

    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        return self._write(self.make_properties(json_snippet))

    def check_create_complete(self, token):
        if token["waits"]:
            raise NotReady(1.0, "waits for ever")
        return True

    check_update_complete = check_create_complete

    def handle_signal(self, details=None):
        self.data_set("live", details["text"])

    def handle_suspend(self):
        pass

    def handle_resume(self):
        pass

    def handle_snapshot(self):
        self.data_set("kept", self.data()["live"])

    def get_live_state(self):
        return {"text": self.data()["live"]}

    def _resolve_attribute(self, name):
        return self.properties[name]


def resource_mapping():
    return {"Frozen::Note": Note}

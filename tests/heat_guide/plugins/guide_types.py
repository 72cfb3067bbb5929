"""One file of plug-ins as the guide describes it: several types, one under two names."""

from zonda.hooks import attributes, constraints, properties, resource, support
from zonda.hooks.errors import InvalidTemplateAttribute, ResourceFailure

Schema = properties.Schema
#: What every handler was called with, oldest first.
CALLS = []


class Foo(resource.Resource):
    """A type of properties and attributes.

    It remembers how it was called.
    """

    support_status = support.Status("5.0.0")

    properties_schema = {
        "foo": Schema(Schema.STRING, "Required, with a default.", default="foo", required=True),
        "bar": Schema(
            Schema.INTEGER,
            "Within limits.",
            required=True,
            update_allowed=True,
            constraints=[constraints.Range(5, 10)],
        ),
        "deep": Schema(
            Schema.MAP,
            "A map with a schema and a default.",
            default={"foo": "Bar"},
            schema={
                "foo": Schema(
                    Schema.STRING,
                    "Inside.",
                    constraints=[
                        constraints.AllowedPattern("(Ba[rc]?)+"),
                        constraints.Length(max=10, description="not too long"),
                    ],
                )
            },
        ),
        "list": Schema(Schema.LIST, "Unset.", update_allowed=True),
        "fixed": Schema(Schema.STRING, "Cannot change.", immutable=True),
        "fail": Schema(Schema.STRING, "Which action fails.", update_allowed=True),
    }
    attributes_schema = {
        "Attr_1": attributes.Schema(
            "The first.", support_status=support.Status("5.0.0"), type=attributes.Schema.STRING
        ),
        "Attr_2": attributes.Schema("The second.", type=attributes.Schema.MAP),
    }

    def _noted(self, name, *arguments):
        CALLS.append((name, *arguments))
        if self.properties["fail"] == name:
            raise ValueError(f"{name} fails")

    def handle_create(self):
        self.resource_id_set(f"foo-{self.properties['bar']}")
        self._noted("create")
        return {"left": 2}

    def check_create_complete(self, token):
        CALLS.append(("check_create", token["left"]))
        token["left"] -= 1
        return token["left"] == 0

    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        self._noted("update", dict(json_snippet["properties"]), sorted(tmpl_diff), dict(prop_diff))
        return ["update-token"]

    def check_update_complete(self, token):
        CALLS.append(("check_update", token))
        return True

    def handle_suspend(self):
        self._noted("suspend")
        return "s"

    def check_suspend_complete(self, token):
        CALLS.append(("check_suspend", token))
        return True

    def handle_resume(self):
        self._noted("resume")
        return "r"

    def check_resume_complete(self, token):
        CALLS.append(("check_resume", token))
        return True

    def handle_delete(self):
        self._noted("delete", self.resource_id)
        return "d"

    def check_delete_complete(self, token):
        CALLS.append(("check_delete", token))
        return True

    def _resolve_attribute(self, name):
        if name == "Attr_1":
            return f"one of {self.resource_id}"
        return {"bar": self.properties["bar"]}


class Wandering(Foo):
    """Looks attributes up in its own way."""

    def FnGetAtt(self, key, *path):
        if key == "nothing":
            raise InvalidTemplateAttribute(self.name, key)
        return "/".join([key, *path])


class Viewed(Foo):
    """Has a view of its own behind the attribute show."""

    def _show_resource(self):
        return {"own": "view"}


class Plain(resource.Resource):
    """Has no handler but the first."""

    properties_schema = {"p": Schema(Schema.STRING, "Any.", update_allowed=True)}

    def handle_create(self):
        CALLS.append(("plain", self.properties["p"]))
        self.resource_id_set(f"plain-{self.properties['p']}")

    def handle_delete(self):
        CALLS.append(("gone", self.resource_id))


class Stubborn(Foo):
    """Goes on with what has failed."""

    def needs_replace_failed(self):
        CALLS.append(("asked", self.status))
        return False


class Missing(resource.Resource):
    """Refuses to exist."""

    def handle_create(self):
        raise ResourceFailure("no room")


class Old(Plain):
    """Deprecated."""

    support_status = support.SupportStatus(
        support.DEPRECATED,
        "Use Guide::Plain.",
        "2.0",
        previous_status=support.Status("1.0"),
    )


class Unsupported(Plain):
    """Nobody cares for it."""

    support_status = support.SupportStatus(support.UNSUPPORTED)


def resource_mapping():
    return {
        "Guide::Foo": Foo,
        "Guide::OldFoo": Foo,
        "Guide::Wandering": Wandering,
        "Guide::Viewed": Viewed,
        "Guide::Plain": Plain,
        "Guide::Stubborn": Stubborn,
        "Guide::Missing": Missing,
        "Guide::Old": Old,
        "Guide::Unsupported": Unsupported,
    }

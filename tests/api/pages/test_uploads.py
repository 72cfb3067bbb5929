"""Files that come with a template, and the names that it has for them."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from .conftest import Browser, Shown, Site
from .test_plans import apply

NEW = "/ui/p1/new"
_VALUE = "OS::Heat::TestResource"


def make_template(value: Any, **resources: str) -> str:
    """A template with an output ``said``, and with resources of types that are files."""
    found: dict[str, Any] = {name: {"type": file} for name, file in resources.items()}
    if value is not None:
        found["value"] = {"type": _VALUE, "properties": {"value": value}}
    document: dict[str, Any] = {"heat_template_version": "2018-08-31", "resources": found}
    if value is not None:
        document["outputs"] = {"said": {"value": {"get_attr": ["value", "output"]}}}
    return yaml.safe_dump(document)


def get_file(name: str) -> dict[str, str]:
    """A call of ``get_file``."""
    return {"get_file": name}


class Uploader:
    """A browser that makes stacks of uploaded files."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.browser: Browser = site.open()

    def plan(self, name: str, template: str, *files: tuple[str, bytes | str]) -> Shown:
        """Send the form with files; ``files``: name or path, and content."""
        sent = [(file, text.encode() if isinstance(text, str) else text) for file, text in files]
        fields = {"name": name, "template": template}
        csrf = self.browser.get(NEW).csrf
        return self.browser.post(NEW, csrf, files=[("files", *each) for each in sent], **fields)

    def create(self, name: str, template: str, *files: tuple[str, bytes | str]) -> str:
        """Make a stack; the URL of it."""
        done = self.plan(name, template, *files)
        assert done.status == 303, done.text
        applied = apply(self.browser, self.browser.get(done.location))
        assert self.site.api.wait(applied.location) == "CREATE_COMPLETE"
        return str(self.site.api("GET", f"/stacks/{name}").headers["Location"])

    def read_output(self, stack: str) -> Any:
        """The output ``said``."""
        return self.site.api("GET", f"{stack}/outputs/said").body["output"]["output_value"]


@pytest.fixture
def uploader(site: Site) -> Uploader:
    return Uploader(site)


@pytest.mark.parametrize(
    "sent", ["text.txt", "dir/text.txt", "sub/dir/text.txt", "p/sub/dir/text.txt"]
)
@pytest.mark.parametrize(
    "wanted", ["sub/dir/text.txt", "./sub/dir/text.txt", "../sub/dir/text.txt"]
)
def test_a_name_with_a_path_means_the_file_whose_path_ends_so(
    uploader: Uploader, sent: str, wanted: str
) -> None:
    name = re.sub("[^a-z]", "_", f"ends-{sent}-{wanted}")
    stack = uploader.create(name, make_template(get_file(wanted)), (sent, "hello"))
    assert uploader.read_output(stack) == "hello"


def test_a_folder_with_nested_templates_and_files_of_the_same_name(
    uploader: Uploader,
) -> None:
    top = make_template(get_file("text.txt"), nest="sub/net.yaml")
    nested = make_template(get_file("text.txt"), deeper="../other/end.yaml")
    stack = uploader.create(
        "folder",
        top,
        ("proj/main.yaml", top),
        ("proj/text.txt", "of the top"),
        ("proj/sub/net.yaml", nested),
        ("proj/sub/text.txt", "of sub"),
        ("proj/other/end.yaml", make_template("x")),
        ("proj/.git/index", b"\xff\xfe\x00"),
    )
    assert uploader.read_output(stack) == "of the top"
    resources = uploader.site.api("GET", f"{stack}/resources", nested_depth="3").body["resources"]
    assert len([each for each in resources if each["resource_name"] == "value"]) == 3
    child = next(each for each in resources if each["resource_name"] == "nest")
    below = uploader.site.api("GET", f"/stacks/{child['physical_resource_id']}").headers["Location"]
    assert uploader.read_output(below) == "of sub"
    files = uploader.site.api("GET", f"{stack}/files").body
    assert "proj/.git/index" not in files
    assert "proj/sub/net.yaml" in files


def test_a_bare_upload_of_a_nested_template_and_of_its_file(uploader: Uploader) -> None:
    stack = uploader.create(
        "bare",
        make_template(get_file("sub/text.txt"), nest="sub/net.yaml"),
        ("net.yaml", make_template(get_file("text.txt"))),
        ("text.txt", "hello"),
    )
    assert uploader.read_output(stack) == "hello"


def test_the_registry_of_an_environment_means_files_of_a_folder(uploader: Uploader) -> None:
    browser = uploader.browser
    environment = "resource_registry: {My::Net: types/net.yaml}"
    done = browser.post(
        NEW,
        browser.get(NEW).csrf,
        name="registry",
        template=make_template(None, nest="My::Net"),
        files=[
            ("environments", "env.yaml", environment.encode()),
            ("files", "proj/types/net.yaml", make_template("x").encode()),
        ],
    )
    assert done.status == 303, done.text
    applied = apply(browser, browser.get(done.location))
    assert uploader.site.api.wait(applied.location) == "CREATE_COMPLETE"


@pytest.mark.parametrize(
    ("template", "files", "said"),
    [
        (make_template(get_file("sub/dir/gone.txt")), [], ["sub/dir/gone.txt"]),
        (
            make_template(None, nest="sub/dir/gone.yaml"),
            [("other.yaml", "x: y")],
            ["sub/dir/gone.yaml"],
        ),
        (
            make_template(get_file("sub/text.txt")),
            [("a/sub/text.txt", "1"), ("b/sub/text.txt", "2")],
            ["sub/text.txt could mean a/sub/text.txt and b/sub/text.txt", "Choose the folder"],
        ),
        (
            make_template([get_file("a/text.txt"), get_file("b/text.txt")]),
            [("text.txt", "1")],
            ["text.txt could mean a/text.txt and b/text.txt", "Choose the folder"],
        ),
        (
            make_template(get_file("text.txt")),
            [("text.txt", "1"), ("text.txt", "2")],
            ["Two different files are called text.txt."],
        ),
    ],
)
def test_files_that_are_missing_or_could_be_two_are_named(
    uploader: Uploader, template: str, files: list[tuple[str, str]], said: list[str]
) -> None:
    done = uploader.plan("faulty", template, *files)
    assert done.status == 400
    alert = Shown(400, done.html.partition('role="alert"')[2].partition("</div>")[0], {}).text
    assert all(text in alert for text in said), alert
    for name, _ in files:
        assert f'value="{name}"' in done.html


def test_a_file_that_is_chosen_anew_replaces_the_one_that_came_back(uploader: Uploader) -> None:
    browser = uploader.browser
    done = browser.post(
        NEW,
        browser.get(NEW).csrf,
        name="anew",
        template=make_template(get_file("text.txt")),
        file_name="text.txt",
        file_text="old",
        files=[("files", "text.txt", b"new")],
    )
    applied = apply(browser, browser.get(done.location))
    assert uploader.site.api.wait(applied.location) == "CREATE_COMPLETE"
    stack = uploader.site.api("GET", "/stacks/anew").headers["Location"]
    assert uploader.read_output(stack) == "new"


def test_a_file_that_is_no_text_travels_as_base64(uploader: Uploader) -> None:
    stack = uploader.create("binary", make_template(get_file("x.bin")), ("x.bin", b"\xff\x00"))
    assert uploader.read_output(stack) == "/wA=\n"

"""Reads the templates that ship with hoglet.

A template is a folder: ``template.yaml`` (everything but the code), ``template.hog`` or
``template.ts`` (the code), ``icon.svg``, and ``tests.yaml`` (its cases for ``hoglet test``).

Source: docs/spec/hog-functions.md#11-templates.
"""

from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable

import msgspec

from hoglet.functions.json_types import FunctionFilters, InputSchema, MaskingSettings
from hoglet.functions.response_schemas import TemplateObject
from hoglet.kit.json import JsonObject

PREFIX = "template-"
HIDDEN = "hidden"
DEPRECATED = "deprecated"


class Template(msgspec.Struct, frozen=True, kw_only=True):
    """A template in the form of the API; ``code`` is stripped."""

    id: str
    name: str
    description: str
    code: str
    code_language: str
    inputs_schema: list[InputSchema]
    type: str
    status: str
    category: list[str]
    free: bool
    icon_url: str | None
    filters: FunctionFilters | None
    masking: MaskingSettings | None
    mapping_templates: list[JsonObject] | None

    def as_json(self) -> TemplateObject:
        """The object of the API."""
        return msgspec.to_builtins(self)


class Templates:
    """All templates by id.

    Args:
        folder: folder of templates; the package's own by default.
    """

    def __init__(self, folder: Traversable | None = None) -> None:
        self._folder = folder or files(__package__)

    @cached_property
    def all(self) -> dict[str, Template]:
        """Every template, by id, sorted by name."""
        templates = [_load(entry) for entry in self._folder.iterdir() if _is_template(entry)]
        return {item.id: item for item in sorted(templates, key=lambda template: template.name)}

    def icon_url(self, kind: str) -> str | None:
        """The icon of a service that a template is named after, e.g. ``slack``."""
        template = self.find(PREFIX + kind)
        return template.icon_url if template else None

    def find(self, template_id: str | None) -> Template | None:
        """The template with an id, ignoring case (``template-Intercom``)."""
        if template_id is None:
            return None
        return self.all.get(template_id) or self.all.get(template_id.lower())


def _is_template(entry: Traversable) -> bool:
    return entry.is_dir() and entry.joinpath("template.yaml").is_file()


def _load(folder: Traversable) -> Template:
    import yaml  # on the first request for a template, not at startup

    about = yaml.safe_load(folder.joinpath("template.yaml").read_text("utf-8"))
    is_hog = folder.joinpath("template.hog").is_file()
    code = folder.joinpath("template.hog" if is_hog else "template.ts").read_text("utf-8")
    return Template(
        id=PREFIX + folder.name,
        name=about["name"],
        description=about["description"],
        code=code.strip(),
        code_language="hog" if is_hog else "javascript",
        inputs_schema=[_with_flags(item) for item in about.get("inputs_schema", [])],
        type=about["type"],
        status=about["status"],
        category=about["category"],
        free=about.get("free", True),
        icon_url=f"/static/services/{folder.name}.svg",
        filters=about.get("filters"),
        masking=about.get("masking"),
        mapping_templates=about.get("mapping_templates"),
    )


def _with_flags(item: InputSchema) -> InputSchema:
    return {"required": False, "secret": False, "hidden": False, **item}

"""Starting points of new functions: templates, and a blank function for each type."""

from typing import Literal

import msgspec

from hoglet.console.api_client import Backend, Reply
from hoglet.console.records.functions import (
    FunctionInputs,
    FunctionMapping,
    SchemaItem,
    TemplateRecord,
)
from hoglet.console.records.project import RequestBody

_HIDDEN = "hidden"
_PRINT_EVENT = "print(event.event, event.distinct_id)\n"
_CAPTURE_REQUEST = (
    "postHogCapture({\n    'event': request.body.event,\n"
    "    'distinct_id': request.body.distinct_id,\n    'properties': {}\n})\n"
)


class Blank(msgspec.Struct, frozen=True):
    """A type of functions with the code of an empty one.

    Args:
        type: the function type.
        name: its name in the singular.
        plural: its name in the plural.
        description: when such a function runs.
        template_id: supplies the code; None if ``hog`` does.
        hog: the code.
    """

    type: str
    name: str
    plural: str
    description: str
    template_id: str | None = None
    hog: str = ""


BLANKS = (
    Blank(
        "destination",
        "Blank destination",
        "Destinations",
        "Runs after an event is stored, and sends it somewhere.",
        hog=_PRINT_EVENT,
    ),
    Blank(
        "transformation",
        "Blank transformation",
        "Transformations",
        "Changes or drops events before they are stored.",
        template_id="template-blank-transformation",
    ),
    Blank(
        "source_webhook",
        "Blank source webhook",
        "Source webhooks",
        "Receives requests at its own URL and captures events.",
        hog=_CAPTURE_REQUEST,
    ),
    Blank(
        "internal_destination",
        "Blank internal destination",
        "Internal destinations",
        "Runs on system events of the project, not on captured events.",
        hog=_PRINT_EVENT,
    ),
    Blank(
        "site_destination",
        "Blank site destination",
        "Site destinations",
        "Runs in the visitor's browser for matching events.",
        template_id="template-blank-site-destination",
    ),
    Blank(
        "site_app",
        "Blank site app",
        "Site apps",
        "Runs in the visitor's browser when a page loads.",
        template_id="template-blank-site-app",
    ),
)


class Need(msgspec.Struct, frozen=True):
    """An input without a default that the function cannot run without.

    ``integration`` is the kind of the integration it takes, None for other inputs.
    """

    label: str
    integration: str | None = None


class Beginning(msgspec.Struct, frozen=True):
    """A template or a blank function.

    Args:
        parameter: the parameter of the URL that chooses it.
        key: its value: a template's id, or a type.
        name: as shown.
        type: the type of the new function.
        description: what it does.
        icon_url: None for the icon of code.
        inputs_schema: asked for before it is created.
        needs: labels of the inputs that have to be filled in.
        created: fields of the new function besides name and inputs.
        mappings: cases of the template to choose from:
            ``[{"name": "Sign-ups", "include_by_default": true, "filters": …, "inputs": …}]``.
    """

    parameter: Literal["template", "blank"]
    key: str
    name: str
    type: str
    description: str
    icon_url: str | None = None
    inputs_schema: list[SchemaItem] = msgspec.field(default_factory=list)
    needs: tuple[str, ...] = ()
    created: RequestBody = msgspec.field(default_factory=dict)
    mappings: list[FunctionMapping] = msgspec.field(default_factory=list)

    def matches(self, search: str, type_: str | None) -> bool:
        """Whether all words of a search occur in the name or description."""
        text = f"{self.name} {self.description}".lower()
        words = all(word in text for word in search.lower().split())
        return words and type_ in (None, "", self.type)

    def body(
        self, name: str, inputs: FunctionInputs, mappings: list[FunctionMapping]
    ) -> RequestBody:
        """The request that creates the function with some of its mappings."""
        named = {"name": name} if name else {}
        mapped = {"mappings": [_mapping(each) for each in mappings]} if self.mappings else {}
        return {**self.created, **named, "inputs": inputs, **mapped}


async def beginnings(backend: Backend) -> list[Beginning] | Reply:
    """All starting points of a function, templates first; the error response on failure."""
    kinds = ",".join(blank.type for blank in BLANKS)
    reply = await backend.get("/hog_function_templates", limit=500, types=kinds)
    if not reply.is_good:
        return reply
    templates: dict[str, TemplateRecord] = {each["id"]: each for each in reply.body["results"]}
    used = {blank.template_id for blank in BLANKS}
    listed = [
        _of_template(each)
        for each in templates.values()
        if each["id"] not in used and each["status"] != _HIDDEN
    ]
    return listed + [_of_blank(blank, templates) for blank in BLANKS]


def needs_of(schema: list[SchemaItem]) -> list[Need]:
    """The inputs that the user must supply before a function with this schema can run."""
    return [
        Need(item.get("label") or item["key"], item.get("integration"))
        for item in schema
        if item.get("required") and not item.get("hidden") and item.get("default") in (None, "")
    ]


def _of_template(template: TemplateRecord) -> Beginning:
    filters = {"filters": template["filters"]} if template["filters"] else {}
    schema = template["inputs_schema"] or []
    return Beginning(
        parameter="template",
        key=template["id"],
        name=template["name"],
        type=template["type"],
        description=template["description"] or "",
        icon_url=template["icon_url"],
        inputs_schema=schema,
        needs=tuple(need.label for need in needs_of(schema)),
        created={"type": template["type"], "template_id": template["id"], **filters},
        mappings=template["mapping_templates"] or [],
    )


def _of_blank(blank: Blank, templates: dict[str, TemplateRecord]) -> Beginning:
    template = templates.get(blank.template_id or "")
    created: RequestBody = {"type": blank.type, "name": blank.name}
    if template is None:
        created["hog"] = blank.hog
    else:
        created["template_id"] = template["id"]
    return Beginning(
        parameter="blank",
        key=blank.type,
        name=blank.name,
        type=blank.type,
        description=blank.description,
        inputs_schema=(template or {}).get("inputs_schema") or [],
        created=created,
        mappings=(template or {}).get("mapping_templates") or [],
    )


def _mapping(template: FunctionMapping) -> FunctionMapping:
    """The mapping that a mapping template creates."""
    inputs = {
        key: given if isinstance(given, dict) and "value" in given else {"value": given}
        for key, given in (template.get("inputs") or {}).items()
    }
    copied = {key: template[key] for key in ("name", "filters", "inputs_schema") if key in template}
    return copied | {"inputs": inputs}

"""A function as a folder: ``function.yaml`` and its code.

::

    type: destination
    name: Welcome webhook
    enabled: true
    filters:
      events:
        - id: plan_chosen
          type: events
    inputs_schema:
      - key: url
        type: string
      - key: token
        type: string
        secret: true
    inputs:
      url:
        value: https://hooks.example.com/x
      token:
        secret: env:SLACK_TOKEN

Values of secrets are never written: ``secret`` names the environment variable from which push takes
the value. Omitted keys have their defaults.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from hoglet.project_files.api import Record
from hoglet.project_files.documents import Document, FunctionDocument, InputDocument, InputDocuments
from hoglet.project_files.formats.yaml_files import BadFile, load, place_of

SETTINGS = "function.yaml"
CODE = "code.hog"
SITE_CODE = "code.ts"
SITE_TYPES = frozenset({"site_destination", "site_app"})
TYPES = (
    "destination",
    "transformation",
    "transformation_log",
    "internal_destination",
    "source_webhook",
    "site_destination",
    "site_app",
)
DEFAULTS: Document = {
    "description": "",
    "enabled": False,
    "icon_url": None,
    "template_id": None,
    "execution_order": None,
    "filters": {},
    "inputs_schema": [],
    "inputs": {},
    "masking": None,
    "mappings": [],
    "retry": None,
    "delivery": None,
}
KEYS = ("type", "name", *DEFAULTS)
GENERATED = frozenset({"bytecode", "bytecode_error", "order", "transpiled", "bytecode_v2"})
_SCHEMA_ORDER = ("key", "type", "label", "description", "required", "secret", "choices", "default")
_LITERAL_KEYS = frozenset({"value", "default", "inputs"})  # literal values, kept even if false
_ENVIRONMENT = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*")


def read_function(folder: Path) -> FunctionDocument:
    """Read the function in a folder: every key of :data:`KEYS`, and ``hog``.

    Raises:
        BadFile: no code, an unknown key, or an invalid value.
    """
    path = folder / SETTINGS
    loaded = load(path)
    if not isinstance(loaded, dict):
        raise BadFile(f"{path}: a function must be a mapping with type and name.")
    unknown = [str(key) for key in loaded if key not in KEYS]
    if unknown:
        position = place_of(path, unknown[0])
        raise BadFile(f"{position}: unknown {', '.join(unknown)}. Known: {', '.join(KEYS)}.")
    kind = loaded.get("type", "destination")
    if kind not in TYPES:
        raise BadFile(f"{place_of(path, 'type')}: type must be one of {', '.join(TYPES)}.")
    given = {key: value for key, value in loaded.items() if value is not None}
    document: dict[str, Any] = {"name": folder.name, **DEFAULTS, **given, "type": kind}
    check_shapes(path, document)
    document["inputs"] = read_inputs(path, document["inputs"])
    for mapping in document["mappings"]:
        mapping["inputs"] = read_inputs(path, mapping.get("inputs") or {})
    return canonical(document, _read_code(folder, kind))


def read_inputs(path: Path, inputs: Mapping[Any, Any]) -> InputDocuments:
    """The inputs of a function or mapping; see :func:`read_input`."""
    return {str(key): read_input(path, key, value) for key, value in inputs.items()}


def read_input(path: Path, key: Any, value: Any) -> InputDocument:
    """``{"value": …}`` or ``{"secret": "env:NAME"}``; a plain value is shorthand for the former.

    Raises:
        BadFile: ``secret`` is not the name of an environment variable.
    """
    if not isinstance(value, dict) or not {"value", "secret"} & set(value):
        return {"value": value}
    if "secret" not in value:
        return _without_generated(value)
    if not isinstance(value["secret"], str) or not _ENVIRONMENT.fullmatch(value["secret"]):
        raise BadFile(
            f"{place_of(path, 'inputs')}: {key}: secret must name an environment variable, such "
            "as env:SLACK_TOKEN; values of secrets are not stored in files."
        )
    return {"secret": value["secret"]}


def written_fields(document: Document) -> Document:
    """The content of ``function.yaml``: keys in a fixed order, without defaults."""
    return {
        key: document[key]
        for key in KEYS
        if key in document and (key not in DEFAULTS or document[key] != DEFAULTS[key])
    }


def document_of(record: Record) -> FunctionDocument:
    """Convert a function of the API to a document; secret inputs are ``{"secret": true}``."""
    document = {key: record.get(key) for key in KEYS}
    document = {
        key: DEFAULTS.get(key) if value is None else value for key, value in document.items()
    }
    document["name"] = record.get("name") or str(record["type"])
    document["inputs"] = _api_inputs(record.get("inputs"))
    document["mappings"] = [
        {**mapping, "inputs": _api_inputs(mapping.get("inputs"))}
        for mapping in record.get("mappings") or []
    ]
    return canonical(document, (record.get("hog") or "").rstrip("\n"))


def canonical(document: Document, code: str) -> FunctionDocument:
    """The document without generated values and defaults, for comparison."""
    fields = {key: document[key] for key in KEYS}
    for key in ("filters", "inputs_schema", "masking", "mappings"):
        fields[key] = without_defaults(fields[key]) or DEFAULTS[key]
    fields["inputs_schema"] = [_in_order(item) for item in fields["inputs_schema"]]
    if fields["mappings"]:  # each has events of its own, and the server drops the function's
        fields["filters"] = {
            key: value
            for key, value in fields["filters"].items()
            if key not in ("events", "actions")
        }
    if fields["filters"] == {"source": "events"}:
        fields["filters"] = {}
    if fields["filters"].get("source") == "events":
        del fields["filters"]["source"]
    for mapping in fields["mappings"]:
        if mapping.get("inputs_schema"):
            mapping["inputs_schema"] = [_in_order(item) for item in mapping["inputs_schema"]]
        filters = mapping.get("filters") or {}
        if filters.get("source") == "events":
            del filters["source"]
        if not filters:
            mapping.pop("filters", None)
        if not mapping.get("inputs"):
            mapping.pop("inputs", None)
    return cast("FunctionDocument", {**fields, "hog": code})


def _in_order(item: Any) -> Any:
    """An item of a schema with its keys in a fixed order."""
    if not isinstance(item, dict):
        return item
    first = [key for key in _SCHEMA_ORDER if key in item]
    return {key: item[key] for key in [*first, *sorted(item.keys() - set(first), key=str)]}


def without_defaults(value: Any) -> Any:
    """A value without generated keys and keys that are null, false or empty."""
    if isinstance(value, list):
        return [without_defaults(item) for item in value]
    if not isinstance(value, dict):
        return value
    remaining: dict[Any, Any] = {}
    for key, item in value.items():
        inner = item if key in _LITERAL_KEYS else without_defaults(item)
        is_empty = inner is None or (key not in _LITERAL_KEYS and inner in (False, "", [], {}))
        if key not in GENERATED and (not is_empty or (inner == 0 and inner is not False)):
            remaining[key] = inner
    return remaining


def code_name(kind: str) -> str:
    """The name of the file with a function's code."""
    return SITE_CODE if kind in SITE_TYPES else CODE


def _api_inputs(inputs: Any) -> InputDocuments:
    return {
        str(key): _without_generated(value)
        for key, value in (inputs or {}).items()
        if isinstance(value, dict)
    }


def _without_generated(value: Mapping[Any, Any]) -> InputDocument:
    remaining = {name: item for name, item in value.items() if name not in GENERATED}
    return cast("InputDocument", remaining)


def check_shapes(path: Path, document: Document) -> None:
    """Check the types of the fields that are present in a document.

    Raises:
        BadFile: one has the wrong type.
    """
    for key, kind in (("filters", dict), ("inputs", dict), ("inputs_schema", list),
                      ("mappings", list), ("enabled", bool)):  # fmt: skip
        if not isinstance(document.get(key, kind()), kind):
            words = {dict: "a mapping", list: "a list", bool: "true or false"}
            raise BadFile(f"{place_of(path, key)}: {key} must be {words[kind]}.")
    for key in ("inputs_schema", "mappings"):
        if not all(isinstance(item, dict) for item in document.get(key, [])):
            raise BadFile(f"{place_of(path, key)}: {key} must be a list of mappings.")
    mappings = document.get("mappings", [])
    if not all(isinstance(item.get("inputs"), dict | None) for item in mappings):
        raise BadFile(f"{place_of(path, 'mappings')}: inputs of a mapping must be a mapping.")
    for key in ("name", "description"):
        if not isinstance(document.get(key, ""), str):
            raise BadFile(f"{place_of(path, key)}: {key} must be a string.")


def _read_code(folder: Path, kind: str) -> str:
    for name in (code_name(kind), CODE):
        path = folder / name
        if path.exists():
            try:
                return path.read_text(encoding="utf-8").rstrip("\n")
            except (OSError, UnicodeDecodeError) as error:
                raise BadFile(f"{path}: {error}") from None
    raise BadFile(f"{folder / code_name(kind)} is missing: it holds the function's code.")

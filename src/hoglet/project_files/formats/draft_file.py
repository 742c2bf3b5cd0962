"""The draft of a function: ``draft.yaml`` and ``draft.hog`` beside the files of the live version.

::

    description: Says hello to everybody
    inputs:
      url:
        value: https://hooks.example.com/y
      token:
        secret: env:SLACK_TOKEN

``draft.yaml`` holds the fields that the draft changes, each completely; ``draft.hog`` (``draft.ts``
of site functions) the code if that changes. A function without either has no draft.
"""

from pathlib import Path
from typing import Any, cast

from hoglet.kit.json import same_json
from hoglet.project_files.api import Record
from hoglet.project_files.documents import Document, DraftDocument, FunctionDocument
from hoglet.project_files.formats.difference import comparable
from hoglet.project_files.formats.function_file import (
    DEFAULTS,
    SITE_TYPES,
    canonical,
    check_shapes,
    document_of,
    read_inputs,
)
from hoglet.project_files.formats.yaml_files import BadFile, load, place_of

SETTINGS = "draft.yaml"
FIELDS = (
    "name",
    "description",
    "icon_url",
    "filters",
    "inputs_schema",
    "inputs",
    "masking",
    "mappings",
    "retry",
    "delivery",
)


def draft_code_name(kind: str) -> str:
    """The name of the file with a draft's code."""
    return "draft.ts" if kind in SITE_TYPES else "draft.hog"


def read_draft(folder: Path, live: FunctionDocument) -> DraftDocument | None:
    """Read the draft of the function in a folder; None if there is none.

    Args:
        folder: the folder of the function.
        live: the function's document.

    Raises:
        BadFile: an unknown key, or an invalid value.
    """
    path, code = folder / SETTINGS, folder / draft_code_name(live["type"])
    if not path.exists() and not code.exists():
        return None
    given = _read_fields(path) if path.exists() else {}
    hog = live["hog"]
    if code.exists():
        try:
            hog = code.read_text(encoding="utf-8").rstrip("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise BadFile(f"{code}: {error}") from None
    return changed_fields(live, canonical({**live, **given}, hog))


def draft_of(record: Record, live: FunctionDocument) -> DraftDocument | None:
    """The draft of a function of the API, which has every field; None if there is none."""
    draft = record.get("draft")
    if not isinstance(draft, dict):
        return None
    fields = {key: value for key, value in draft.items() if key in FIELDS or key == "hog"}
    return changed_fields(live, document_of({**record, **fields}))


def changed_fields(live: FunctionDocument, complete: FunctionDocument) -> DraftDocument:
    """The fields of a draft that differ from the live version; values of secrets do not count."""
    before, after = comparable("draft", live), comparable("draft", complete)
    changed = {
        key: complete[key] for key in (*FIELDS, "hog") if not same_json(after[key], before[key])
    }
    return cast("DraftDocument", changed)


def _read_fields(path: Path) -> Document:
    loaded = load(path)
    loaded = {} if loaded is None else loaded
    if not isinstance(loaded, dict):
        raise BadFile(f"{path}: a draft must be a mapping of the fields that it changes.")
    unknown = [str(key) for key in loaded if key not in FIELDS]
    if unknown:
        position = place_of(path, unknown[0])
        raise BadFile(f"{position}: unknown {', '.join(unknown)}. Known: {', '.join(FIELDS)}.")
    given: dict[str, Any] = {
        key: DEFAULTS.get(key) if item is None else item for key, item in loaded.items()
    }
    check_shapes(path, given)
    if "inputs" in given:
        given["inputs"] = read_inputs(path, given["inputs"])
    for mapping in given.get("mappings", []):
        mapping["inputs"] = read_inputs(path, mapping.get("inputs") or {})
    return given

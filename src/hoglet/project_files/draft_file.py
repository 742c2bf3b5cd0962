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
from typing import Any

from hoglet.kit.json_values import same_json
from hoglet.project_files.function_file import (
    DEFAULTS,
    SITE_TYPES,
    canonical,
    check_shapes,
    document_of,
    read_input,
)
from hoglet.project_files.model import comparable
from hoglet.project_files.yaml_files import BadFile, load, place_of

type Json = dict[str, Any]

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


def read_draft(folder: Path, live: Json) -> Json | None:
    """Read the draft of the function in a folder; None if there is none.

    Args:
        folder: of the function.
        live: the function's document.

    Raises:
        BadFile: an unknown key, or an invalid value.
    """
    path, code = folder / SETTINGS, folder / draft_code_name(live["type"])
    if not path.exists() and not code.exists():
        return None
    given = _read_fields(path) if path.exists() else {}
    document = {**live, **given}
    if code.exists():
        try:
            document["hog"] = code.read_text(encoding="utf-8").rstrip("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise BadFile(f"{code}: {error}") from None
    return changed_fields(live, document)


def draft_of(record: Json, live: Json) -> Json | None:
    """The draft of a function of the API, which has every field; None if there is none."""
    draft = record.get("draft")
    if not isinstance(draft, dict):
        return None
    fields = {key: value for key, value in draft.items() if key in FIELDS or key == "hog"}
    return changed_fields(live, document_of({**record, **fields}))


def changed_fields(live: Json, document: Json) -> Json:
    """The fields of a draft that differ from the live version; values of secrets do not count."""
    complete = {**canonical(document), "hog": document["hog"]}
    before, after = comparable("draft", live), comparable("draft", complete)
    return {
        key: complete[key] for key in (*FIELDS, "hog") if not same_json(after[key], before[key])
    }


def _read_fields(path: Path) -> Json:
    loaded = load(path)
    loaded = {} if loaded is None else loaded
    if not isinstance(loaded, dict):
        raise BadFile(f"{path}: a draft must be a mapping of the fields that it changes.")
    unknown = [str(key) for key in loaded if key not in FIELDS]
    if unknown:
        place = place_of(path, unknown[0])
        raise BadFile(f"{place}: unknown {', '.join(unknown)}. Known: {', '.join(FIELDS)}.")
    given: Json = {key: DEFAULTS.get(key) if item is None else item for key, item in loaded.items()}
    check_shapes(path, given)
    if "inputs" in given:
        given["inputs"] = _read_inputs(path, given["inputs"])
    for mapping in given.get("mappings", []):
        mapping["inputs"] = _read_inputs(path, mapping.get("inputs") or {})
    return given


def _read_inputs(path: Path, inputs: Json) -> Json:
    return {str(key): read_input(path, key, value) for key, value in inputs.items()}

"""Endpoints as YAML files, one file per endpoint, designed for review.

::

    name: events_of_plan
    description: Events by plan
    query: |
      select event, count() from events where properties.plan = {variables.plan} group by event
    variables:
      plan:
        type: String
        default: pro
    tags: [billing]
    cache_age_seconds: 600

Omitted fields have their defaults. A query of another kind, or with additional keys, is a mapping
with ``kind``.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from hoglet.hogql.query_json.nodes import NODES, default_of
from hoglet.hogql.query_json.upgrade import upgraded
from hoglet.kit.json import same_json
from hoglet.project_files.api import StoredEndpoint, StoredVariable, VariableUse
from hoglet.project_files.documents import (
    Document,
    EndpointDocument,
    QueryDocument,
    VariableDocument,
)
from hoglet.project_files.formats.yaml_files import BadFile, dump, load, place_of

HOGQL = "HogQLQuery"
DEFAULTS: Document = {
    "description": "",
    "variables": {},
    "tags": [],
    "is_active": True,
    "cache_age_seconds": None,
    "data_freshness_seconds": 86400,
    "is_materialized": False,
    "sync_frequency": None,
    "bucket_overrides": {},
    "optional_breakdown_properties": [],
}
ORDER = ("name", "description", "query", *(name for name in DEFAULTS if name != "description"))
_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]{0,127}")
_FILE_NAME = re.compile(r"[\w-]+")
_VARIABLE = re.compile(r"\bvariables\s*\.\s*[`]?(\w+)")
_VARIABLE_KEYS = ("name", "type", "default", "choices", "multi", "value")


def read_file(path: Path, shared: Mapping[str, VariableDocument] | None = None) -> EndpointDocument:
    """Read the endpoint in a file, with all fields, and the query in the form of the API.

    Args:
        path: a YAML file. The query can be in a file of the same name with ``.sql``; the name
            of the endpoint defaults to the name of the file.
        shared: variables of the project (``variables.yaml``), which the file need not define.

    Raises:
        BadFile: invalid YAML, an unknown key, a missing name or query, or an invalid value.
    """
    loaded = load(path)
    if not isinstance(loaded, dict):
        raise BadFile(f"{path}: an endpoint must be a mapping with name and query.")
    _check_keys(path, loaded, ORDER)
    loaded.setdefault("name", path.stem)
    beside = path.with_suffix(".sql")
    if "query" not in loaded and beside.exists():
        loaded["query"] = _read_text(beside)
    for name in ("name", "query"):
        if not loaded.get(name):
            raise BadFile(f"{path}: {name} is missing.")
    if not isinstance(loaded["name"], str):
        raise BadFile(f"{place_of(path, 'name')}: name must be a string.")
    if not _NAME.fullmatch(loaded["name"]):
        raise BadFile(
            f"{place_of(path, 'name')}: the name of an endpoint starts with a letter and has at "
            f"most 128 letters, digits, hyphens and underscores, not {loaded['name']!r}."
        )
    given = {name: value for name, value in loaded.items() if value is not None}
    document = {"name": given["name"], **DEFAULTS, **given}
    query = _read_query(path, loaded["query"])
    own = _read_variables(path, document["variables"])
    _check_used(path, query, own)
    document["query"] = query
    document["variables"] = _with_shared(path, query, own, shared or {})
    document["tags"] = _read_tags(path, document["tags"])
    return cast("EndpointDocument", {name: document[name] for name in ORDER})


def path_of(folder: Path, name: str) -> Path:
    """The file of an endpoint in a folder.

    Raises:
        BadFile: a server sent a name that no endpoint can have, such as ``../../.profile``.
    """
    if not _FILE_NAME.fullmatch(name):
        raise BadFile(f"The server has an endpoint {name!r}: there is no file of such a name.")
    return folder / f"{name}.yaml"


def write_text(document: EndpointDocument) -> str:
    """The text of an endpoint's file: keys in a fixed order, without defaults.

    Example:
        >>> print(write_text({"name": "a", "query": {"kind": "HogQLQuery", "query": "select 1"}}))
        name: a
        query: select 1
        <BLANKLINE>
    """
    fields = {
        name: document[name]
        for name in ORDER
        if name in document and document[name] != DEFAULTS.get(name, _NEVER)
    }
    fields["query"] = _short_query(document["query"])
    if "variables" in fields:
        fields["variables"] = {
            code: written_variable(variable) for code, variable in document["variables"].items()
        }
    return dump(fields)


def document_of(
    record: StoredEndpoint, variables: Mapping[str, StoredVariable]
) -> EndpointDocument:
    """Convert an endpoint of the API to a document.

    Args:
        record: docs/spec/query-endpoints.md#21-endpoint-record-rows-1-4.
        variables: the project's, by id.
    """
    document = {name: record[name] for name in ORDER if record.get(name) is not None}
    document["bucket_overrides"] = record.get("bucket_overrides") or {}
    query = record["query"]
    document["variables"] = _variables_of(query.get("variables") or {}, variables)
    document["query"] = _canonical({name: query[name] for name in query if name != "variables"})
    return cast("EndpointDocument", {**DEFAULTS, **document})


def _variables_of(
    definitions: Mapping[str, VariableUse], variables: Mapping[str, StoredVariable]
) -> dict[str, VariableDocument]:
    documents: dict[str, VariableDocument] = {}
    for key, definition in definitions.items():
        variable = variables.get(key)
        code = definition.get("code_name") or (variable or {}).get("code_name") or key
        documents[code] = variable_of({**definition, "code_name": code}, variable)
    return dict(sorted(documents.items()))


def variable_of(definition: VariableUse, variable: StoredVariable | None) -> VariableDocument:
    """Convert a variable of the API to a document.

    ``definition`` is its entry in the endpoint's query.
    """
    code, value = definition["code_name"], definition.get("value")
    default = None if variable is None else variable.get("default_value")
    document: VariableDocument = {"type": "String", "default": default}
    if variable is not None:
        document["type"] = variable.get("type", "String")
        if variable.get("name", code.replace("_", " ")) != code.replace("_", " "):
            document["name"] = variable["name"]
        if variable.get("values"):
            document["choices"] = variable["values"] or []
        if variable.get("is_multi"):
            document["multi"] = True
    if not same_json(value, default) and not definition.get("isNull"):
        document["value"] = value
    return _in_order(document)


def _read_query(path: Path, query: Any) -> QueryDocument:
    if isinstance(query, str):
        return {"kind": HOGQL, "query": query.strip()}
    if not isinstance(query, dict) or "kind" not in query:
        raise BadFile(f"{place_of(path, 'query')}: query must be SQL, or a mapping with kind.")
    return _canonical(query)


def _canonical(query: QueryDocument) -> QueryDocument:
    """A query in the form shared by files and servers: without the defaults that a server adds."""
    kind = str(query.get("kind"))
    canonical = {
        name: value
        for name, value in (upgraded(query) if kind in NODES else query).items()
        if value is not None and not same_json(value, default_of(kind, name))
    }
    if isinstance(canonical.get("query"), str):
        canonical["query"] = canonical["query"].strip()
    return canonical


def _read_variables(path: Path, variables: Any) -> dict[str, VariableDocument]:
    if not isinstance(variables, dict):
        raise BadFile(f"{place_of(path, 'variables')}: variables must be a mapping of code names.")
    read: dict[str, VariableDocument] = {}
    for code, given in sorted(variables.items(), key=lambda each: str(each[0])):
        read[str(code)] = read_variable(path, str(code), given)
    return read


def _read_tags(path: Path, tags: Any) -> list[str]:
    if not isinstance(tags, list):
        raise BadFile(f"{place_of(path, 'tags')}: tags must be a list.")
    return sorted(set(map(str, tags)))


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"{path}: {error}") from None


def _with_shared(
    path: Path,
    query: QueryDocument,
    own: dict[str, VariableDocument],
    shared: Mapping[str, VariableDocument],
) -> dict[str, VariableDocument]:
    """The endpoint's variables, including those of the project that its query uses."""
    for code in own.keys() & shared.keys():
        given = {key: value for key, value in own[code].items() if key != "value"}
        if not same_json(given, shared[code]):
            position = place_of(path, "variables")
            raise BadFile(f"{position}: {code} differs from its definition in variables.yaml.")
    used = variables_used(query)
    variables = {code: variable.copy() for code, variable in shared.items() if code in used} | own
    return dict(sorted(variables.items()))


def variables_used(query: QueryDocument) -> set[str]:
    """Code names of all variables that a query refers to."""
    return set(_VARIABLE.findall(json.dumps(query)))


def read_variable(path: Path, code: str, given: Any) -> VariableDocument:
    """One variable: ``{"type", "default", "name"?, "choices"?, "value"?}``.

    Raises:
        BadFile: not a mapping, or an unknown key.
    """
    if not isinstance(given, dict):
        position = place_of(path, "variables")
        raise BadFile(f"{position}: variable {code} must be a mapping with type and default.")
    _check_keys(path, given, _VARIABLE_KEYS)
    return _in_order({"type": "String", "default": None, **given})


def written_variable(variable: VariableDocument) -> Document:
    """A variable in a file; without a default, the key is omitted."""
    return {key: value for key, value in variable.items() if key != "default" or value is not None}


def _in_order(variable: Mapping[str, Any]) -> VariableDocument:
    ordered = {key: variable[key] for key in _VARIABLE_KEYS if key in variable}
    return cast("VariableDocument", ordered)


def _check_used(
    path: Path, query: QueryDocument, variables: Mapping[str, VariableDocument]
) -> None:
    """Reject unused variables: the server drops them, so every push would report a change."""
    text = query.get("query")
    if not isinstance(text, str):
        return
    for code in variables:
        if not re.search(rf"\bvariables\s*\.\s*[`\"]?{re.escape(code)}\b", text):
            raise BadFile(f"{place_of(path, 'variables')}: the query does not use {code}.")


def _check_keys(path: Path, given: Document, known: tuple[str, ...]) -> None:
    unknown = [str(key) for key in given if key not in known]
    if unknown:
        position = place_of(path, unknown[0])
        raise BadFile(f"{position}: unknown {', '.join(unknown)}. Known: {', '.join(known)}.")


def _short_query(query: QueryDocument) -> str | QueryDocument:
    return query["query"] if set(query) == {"kind", "query"} and query["kind"] == HOGQL else query


_NEVER = object()

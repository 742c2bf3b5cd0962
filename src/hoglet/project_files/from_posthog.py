"""Prepares a project that was read from PostHog for hoglet.

Parts that only PostHog understands are removed; the project has a remark for each change. Whether
hoglet accepts the rest is determined by a trial push (:mod:`hoglet.project_tests.push_check`).
"""

from collections.abc import Iterator
from typing import Any

from hoglet.project_files.documents import Document, FunctionDocument
from hoglet.project_files.formats.references import unresolved
from hoglet.project_files.model import KINDS, ProjectContent, Remark

_MEANINGLESS = frozenset({"conditionHash", "bytecode", "bytecode_error"})
_OF_QUERIES = frozenset({"uuid"})
_FILTERS = frozenset({"source", "events", "actions", "properties", "filter_test_accounts"})
_INTEGRATION_TYPES = frozenset({"integration", "integration_multi"})
NO_INTEGRATION = 0


def prepare(project: ProjectContent, templates: frozenset[str]) -> None:
    """Change the documents of a project in place.

    Args:
        project: the project read from PostHog.
        templates: ids of hoglet's own; functions of other templates keep only their code.
    """
    for name in project.objects["draft"]:
        project.left_out.append(Remark("draft", name, "publish it there, or rewrite it here"))
    project.objects["draft"].clear()
    for kind in KINDS:
        documents = project.of_kind(kind)
        for name, document in list(documents.items()):
            drop = _MEANINGLESS | (_OF_QUERIES if kind == "endpoint" else frozenset())
            cleaned = _without(document, drop)
            reason = _why_not(kind, cleaned)
            if reason:
                project.left_out.append(Remark(kind, name, reason))
                del documents[name]
                continue
            if kind == "function":
                for change in _adapt_function(cleaned, templates):
                    project.changed.append(Remark(kind, name, change))
            documents[name] = cleaned
    project.settings = _without(project.settings, _MEANINGLESS)
    filters = project.settings.get("test_account_filters")
    for kind, key in list(unresolved(filters)):
        reason = f"test_account_filters name the {kind} {key}, which does not exist"
        project.left_out.append(Remark("project", "", reason))
        project.settings.pop("test_account_filters", None)


def _why_not(kind: str, document: Document) -> str:
    missing = next(unresolved({**document, "inputs": None}), None)
    if missing is not None:
        return f"it refers to the {missing[0]} {missing[1]}, which does not exist"
    if kind == "cohort" and not document.get("filters"):
        return "it has no criteria"
    sources = {str(filters.get("source", "")) for filters in _filters_of(kind, document)}
    warehouse = next((each for each in sorted(sources) if each.startswith("data-warehouse")), "")
    return f"functions on {warehouse} do not run here" if warehouse else ""


def _filters_of(kind: str, document: Document) -> Iterator[dict[str, Any]]:
    if kind == "function":
        yield document["filters"] or {}
        for mapping in document["mappings"]:
            yield mapping.get("filters") or {}


def _adapt_function(document: FunctionDocument, templates: frozenset[str]) -> Iterator[str]:
    template = document["template_id"]
    if template is not None and template not in templates:
        document["template_id"] = None
        yield f"its template {template} does not exist here; the function keeps its code"
    for filters in _filters_of("function", document):
        for key in sorted(filters.keys() - _FILTERS):
            document["enabled"] = False
            del filters[key]
            yield f"filters.{key} is not supported: it was removed, and the function is disabled"
    schema = {item.get("key"): item for item in document["inputs_schema"]}
    for key, value in document["inputs"].items():
        if schema.get(key, {}).get("type") in _INTEGRATION_TYPES and value.get("value"):
            is_list = isinstance(value.get("value"), list)
            document["inputs"][key] = {**value, "value": [] if is_list else NO_INTEGRATION}
            was_enabled = " and the function is disabled" if document["enabled"] else ""
            document["enabled"] = False
            yield (
                f"inputs.{key} refers to an integration of the other server: it is now empty"
                f"{was_enabled}; create one with hoglet integrations create and set its id"
            )


def _without(value: Any, keys: frozenset[str]) -> Any:
    """A value without some keys at every depth, except inside the values of inputs."""
    if isinstance(value, list):
        return [_without(item, keys) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: item if key in {"inputs", "hog"} else _without(item, keys)
        for key, item in value.items()
        if key not in keys and not (key == "sendRawQuery" and not item)
    }

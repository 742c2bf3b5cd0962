"""Converts stored rows to executable functions.

Source: docs/spec/hog-functions.md#43-templating-and-generated-keys and
docs/spec/hog-functions.md#132-globals-and-inputs.
"""

from typing import TypedDict

import msgspec
import structlog

from hoglet.functions.executable.model import (
    DeliveryLimits,
    ExecutableFunction,
    ExecutableInput,
    ExecutableMapping,
    RetryPolicy,
)
from hoglet.functions.inputs.secrets import mapping_number
from hoglet.functions.json_types import (
    DeliverySettings,
    FunctionFilters,
    FunctionMapping,
    InputSchema,
    InputValue,
    InputValues,
    MappingSecrets,
    MaskingSettings,
    RetrySettings,
    SecretValues,
    StoredMatcher,
)
from hoglet.functions.secrets.box import SecretBox, SecretsUnreadable
from hoglet.functions.tables import HogFunctionRow
from hoglet.functions.types import FunctionType

log = structlog.get_logger(__name__)


class RunColumns(TypedDict):
    """The columns of a function that its runs need, by name; secrets are in plain text."""

    type: FunctionType
    name: str | None
    hog: str
    inputs_schema: list[InputSchema]
    inputs: InputValues
    secrets: SecretValues
    filters: FunctionFilters
    matcher: StoredMatcher
    masking: MaskingSettings | None
    mappings: list[FunctionMapping] | None
    mapping_secrets: MappingSecrets
    execution_order: int | None
    retry: RetrySettings | None
    delivery: DeliverySettings | None


def executable_from_row(row: HogFunctionRow, box: SecretBox) -> ExecutableFunction:
    """A function with decrypted secrets; never log or store it.

    If the secrets cannot be decrypted, the function still matches events, and its deliveries become
    dead letters.
    """
    problem = None
    try:
        secrets, mapping_secrets = box.open(row.secrets), box.open(row.mapping_secrets)
    except SecretsUnreadable as error:
        secrets, mapping_secrets, problem = {}, {}, error.detail
    if problem:
        log.error("a function cannot run", action="secrets_unreadable", function=str(row.id))
    columns: RunColumns = {
        "type": row.type,
        "name": row.name,
        "hog": row.hog,
        "inputs_schema": row.inputs_schema,
        "inputs": row.inputs,
        "secrets": secrets,
        "filters": row.filters,
        "matcher": row.matcher,
        "masking": row.masking,
        "mappings": row.mappings,
        "mapping_secrets": mapping_secrets,
        "execution_order": row.execution_order,
        "retry": row.retry,
        "delivery": row.delivery,
    }
    function = executable_from_values(
        columns,
        function_id=str(row.id),
        project_id=row.project_id,
        state=row.state,
        enabled=row.enabled,
        version=row.version,
    )
    return msgspec.structs.replace(function, problem=problem)


def unreadable_secrets(
    row: HogFunctionRow | None, values: RunColumns, box: SecretBox
) -> str | None:
    """Why a function with unsaved changes cannot run: it needs secrets that no key decrypts."""
    try:
        for encrypted in () if row is None else (row.secrets, row.mapping_secrets):
            box.open(encrypted)
    except SecretsUnreadable as error:
        return error.detail if _lacks_secrets(values) else None
    return None


def _lacks_secrets(values: RunColumns) -> bool:
    """Whether an input of a secret type has no value, at the top or in a mapping."""
    schemas = [(values["inputs_schema"], values["secrets"])]
    for index, mapping in enumerate(values["mappings"] or []):
        known = values["mapping_secrets"].get(str(index), {})
        schemas.append((mapping.get("inputs_schema") or [], known))
    return any(
        item.get("secret") and item["key"] not in known
        for schema, known in schemas
        for item in schema
    )


def executable_from_values(
    values: RunColumns,
    *,
    function_id: str,
    project_id: int,
    state: int = 1,
    enabled: bool = True,
    version: int = 0,
) -> ExecutableFunction:
    """An executable function from column values, which need not be stored (test runs)."""
    matcher = values["matcher"]
    return ExecutableFunction(
        id=function_id,
        project_id=project_id,
        type=values["type"],
        name=values["name"],
        hog=values["hog"],
        inputs=_inputs(values["inputs_schema"], values["inputs"], values["secrets"]),
        filter=matcher.get("tree"),
        events=matcher.get("events"),
        source=values["filters"].get("source") or "events",
        masking=values["masking"],
        mappings=_mappings(values),
        execution_order=values["execution_order"],
        retry=msgspec.convert(values["retry"] or {}, RetryPolicy),
        delivery=msgspec.convert(values["delivery"] or {}, DeliveryLimits),
        state=state,
        enabled=enabled,
        version=version,
    )


def _inputs(
    schema: list[InputSchema], plain: InputValues, secrets: SecretValues
) -> tuple[ExecutableInput, ...]:
    items = {item["key"]: item for item in schema}
    together = sorted({**plain, **secrets}.items(), key=lambda pair: pair[1].get("order", 0))
    return tuple(
        ExecutableInput(
            key=key,
            value=entry.get("value"),
            templating=_templating(items.get(key), entry),
            type=items[key]["type"] if key in items else "string",
            secret=key in secrets,
        )
        for key, entry in together
    )


def _templating(item: InputSchema | None, entry: InputValue) -> str | None:
    if item is not None and item.get("templating") is False:
        return None
    return entry.get("templating") or "hog"


def _mappings(values: RunColumns) -> tuple[ExecutableMapping, ...] | None:
    mappings = values["mappings"]
    if not mappings:
        return None
    matchers = values["matcher"].get("mappings") or []
    return tuple(
        ExecutableMapping(
            number=mapping_number(matchers, index),
            name=mapping.get("name"),
            filter=matchers[index]["tree"] if index < len(matchers) else None,
            inputs=_inputs(
                mapping.get("inputs_schema") or [],
                mapping.get("inputs") or {},
                values["mapping_secrets"].get(str(index), {}),
            ),
            disabled=bool(mapping.get("disabled")),
        )
        for index, mapping in enumerate(mappings)
    )

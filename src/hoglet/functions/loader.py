"""Loads the functions that run, from stored rows to executable functions, and caches them.

Inputs name integrations by id. When a function is loaded, an id becomes the integration's config
with a placeholder for its token; an unknown id stays a number, and building the inputs fails with
an error.

Source: docs/spec/hog-functions.md#43-templating-and-generated-keys and
docs/spec/hog-functions.md#132-globals-and-inputs.
"""

import asyncio
import math
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypedDict
from uuid import UUID

import msgspec
import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.functions import repository, types
from hoglet.functions.executable.model import (
    DeliveryLimits,
    ExecutableFunction,
    ExecutableInput,
    ExecutableMapping,
    HostConfig,
    RetryPolicy,
)
from hoglet.functions.inputs.secrets import mapping_number
from hoglet.functions.inputs.types import INTEGRATION_TYPES
from hoglet.functions.integrations.repository import by_ids, seen_by_programs
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
from hoglet.kit.json import JsonObject, is_array
from hoglet.store.database import Database

STAMP_SECONDS = 1.0
"""How long a project's version stamp is used, so changes apply within a second."""

type Known = Mapping[int, JsonObject]
"""Integration id to the object that programs see."""
type _Cached = tuple[str, ExecutableFunction | None]
"""A function, and its project's version stamp when it was loaded."""

log = structlog.get_logger(__name__)


class FunctionLoader:
    """Loads functions with decrypted secrets, which are only ever sent to workers.

    Args:
        database: stores the functions.
        box: decrypts their secrets.
        host_config: what the server offers to programs.
    """

    def __init__(self, database: Database, box: SecretBox, host_config: HostConfig) -> None:
        self._database = database
        self.box = box
        self._host_config = host_config

    async def load_runnable(
        self, project_id: int, kinds: Collection[str] = (types.DESTINATION,)
    ) -> list[ExecutableFunction]:
        """The executable functions of a project, in execution order.

        Functions disabled by the watcher or an administrator are included (their ``state``
        is 3 or 12, ``enabled`` False), because their matches are counted.
        """
        async with self._database.read() as session:
            rows = await repository.enabled(session, project_id, kinds)
            loaded = [executable_from_row(row, self.box) for row in rows]
            return await self._equipped(session, project_id, loaded)

    async def load_one(self, project_id: int, function_id: UUID) -> ExecutableFunction | None:
        """A live executable function, enabled or not."""
        async with self._database.read() as session:
            row = await repository.find(session, project_id, function_id)
            given = [] if row is None else [executable_from_row(row, self.box)]
            loaded = await self._equipped(session, project_id, given)
        return loaded[0] if loaded else None

    async def resolved(self, function: ExecutableFunction) -> ExecutableFunction:
        """A function with integrations and host configuration resolved."""
        async with self._database.read() as session:
            return (await self._equipped(session, function.project_id, [function]))[0]

    async def version_stamp(self, project_id: int) -> str:
        """A text that changes whenever a function or integration of the project changes."""
        async with self._database.read() as session:
            return await repository.version_stamp(session, project_id)

    async def _equipped(
        self, session: AsyncSession, project_id: int, functions: Sequence[ExecutableFunction]
    ) -> list[ExecutableFunction]:
        """Functions with integrations, which are queried only if they use some."""
        ids = {each for function in functions for each in integration_ids(function)}
        rows = await by_ids(session, project_id, ids) if ids else {}
        known = {integration_id: seen_by_programs(row) for integration_id, row in rows.items()}
        return [
            msgspec.structs.replace(
                with_integrations(function, known) if ids else function,
                facilities=self._host_config,
            )
            for function in functions
        ]


class FunctionCache:
    """Live functions by id, with decrypted secrets, which are only ever sent to workers."""

    def __init__(self, functions: FunctionLoader) -> None:
        self._functions = functions
        self._stamps: dict[int, tuple[float, str]] = {}
        self._known: dict[tuple[int, UUID], _Cached] = {}
        self._reading: dict[tuple[int, UUID], asyncio.Task[_Cached]] = {}

    async def get(
        self, project_id: int, function_id: UUID, *, present: bool = False
    ) -> ExecutableFunction | None:
        """The function, at most a second old; with ``present``, its current state.

        None if it was deleted.
        """
        if present:
            return (await self._read(project_id, function_id, None))[1]
        stamp = self._recent_stamp(project_id)
        known = self._known.get((project_id, function_id))
        if stamp is None or known is None or known[0] != stamp:
            known = await self._read_once(project_id, function_id, stamp)
        return known[1]

    async def _read_once(self, project_id: int, function_id: UUID, stamp: str | None) -> _Cached:
        """Load a function once for all runs that request it at the same time."""
        key = (project_id, function_id)
        task = self._reading.get(key)
        if task is None:
            task = asyncio.create_task(self._read(project_id, function_id, stamp))
            self._reading[key] = task
            task.add_done_callback(lambda _: self._reading.pop(key, None))
        return await asyncio.shield(task)

    async def _read(self, project_id: int, function_id: UUID, stamp: str | None) -> _Cached:
        if stamp is None:
            now = time.monotonic()
            stamp = await self._functions.version_stamp(project_id)
            self._stamps[project_id] = (now, stamp)
        known = self._known.get((project_id, function_id))
        if known is None or known[0] != stamp:
            loaded = await self._functions.load_one(project_id, function_id)
            known = self._known[project_id, function_id] = (stamp, loaded)
        return known

    def _recent_stamp(self, project_id: int) -> str | None:
        read_at, stamp = self._stamps.get(project_id, (-math.inf, ""))
        return stamp if time.monotonic() - read_at <= STAMP_SECONDS else None


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
        secrets = box.open(row.secrets) if row.secrets else {}
        mapping_secrets = box.open(row.mapping_secrets) if row.mapping_secrets else {}
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


def integration_ids(function: ExecutableFunction) -> set[int]:
    """The integration ids in a function's inputs, including mappings."""
    inputs = [*function.inputs, *(i for m in function.mappings or () for i in m.inputs)]
    values = [item.value for item in inputs if item.type in INTEGRATION_TYPES]
    flat = [entry for value in values for entry in (value if is_array(value) else [value])]
    return {entry for entry in flat if isinstance(entry, int)}


def with_integrations(function: ExecutableFunction, known: Known) -> ExecutableFunction:
    """The function with every known id replaced."""
    mappings = function.mappings and tuple(
        msgspec.structs.replace(mapping, inputs=_resolved(mapping.inputs, known))
        for mapping in function.mappings
    )
    inputs = _resolved(function.inputs, known)
    return msgspec.structs.replace(function, inputs=inputs, mappings=mappings)


def _resolved(inputs: Sequence[ExecutableInput], known: Known) -> tuple[ExecutableInput, ...]:
    return tuple(
        msgspec.structs.replace(item, value=_value(item.value, known))
        if item.type in INTEGRATION_TYPES
        else item
        for item in inputs
    )


def _value(value: Any, known: Known) -> Any:
    if is_array(value):
        return [_value(item, known) for item in value]
    return known.get(value, value) if isinstance(value, int) else value

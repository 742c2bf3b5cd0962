"""Functions in the form of the API: 24 keys in full, 14 in lists, with related data.

Source: docs/spec/hog-functions.md#2-the-function-object.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.principals import User, user_object
from hoglet.access.repository import users_by_id
from hoglet.access.schemas import UserObject
from hoglet.functions.compile.messages import CodeWarning
from hoglet.functions.drafts.fields import visible
from hoglet.functions.inputs.secrets import secret_keys, visible_inputs
from hoglet.functions.json_types import FunctionMapping, MappingSecrets, SecretValues, SentFields
from hoglet.functions.response_schemas import (
    FunctionFullItem,
    FunctionItem,
    FunctionObject,
    FunctionOverview,
    Status,
    TemplateObject,
)
from hoglet.functions.secrets.box import SecretBox, SecretsUnreadable
from hoglet.functions.tables import HogFunctionRow
from hoglet.functions.templates.registry import Templates
from hoglet.functions.watcher.service import Watcher
from hoglet.kit.clock import iso_z, iso_z_or_none


class FunctionView(NamedTuple):
    """A function with the related data that its API object needs.

    ``secrets`` has the keys of the encrypted inputs with their order: ``{"token": {"order": 1}}``.
    ``draft`` has the drafted fields, with secrets in plain text.
    """

    row: HogFunctionRow
    user: UserObject | None
    template: TemplateObject | None
    status: Status
    secrets: SecretValues
    mapping_secrets: MappingSecrets
    search_match_type: Literal["exact", "similar"] | None = None
    warnings: Sequence[CodeWarning] = ()
    draft: SentFields | None = None


def full_object(view: FunctionView) -> FunctionObject:
    """The full object; without ``retry``, ``delivery`` and ``warnings`` unless they are set.

    ``draft``, ``draft_updated_at`` and ``version`` are present only if the function ever had a
    draft.
    """
    row = view.row
    inputs = visible_inputs(row.inputs_schema, row.inputs, view.secrets)
    mappings = _mappings(view)
    answer: FunctionObject = {
        **_common(view),
        "deleted": row.deleted,
        "bytecode": row.bytecode,
        "transpiled": row.transpiled,
        "inputs_schema": row.inputs_schema,
        "inputs": inputs,
        "masking": row.masking,
        "mappings": mappings,
        "template_id": row.template_id,
        "_create_in_folder": row.folder,
        "batch_export_id": None if row.batch_export_id is None else str(row.batch_export_id),
    }
    if row.retry is not None:
        answer["retry"] = row.retry
    if row.delivery is not None:
        answer["delivery"] = row.delivery
    if row.has_drafts:
        draft = None if view.draft is None else visible(row, inputs, mappings, view.draft)
        answer["draft"] = draft
        answer["draft_updated_at"] = iso_z_or_none(row.draft_updated_at)
        answer["version"] = row.version
    if view.warnings:
        answer["warnings"] = msgspec.to_builtins(view.warnings)
    return answer


def list_item(view: FunctionView) -> FunctionItem:
    """One item of a list."""
    item: FunctionItem = {**_common(view)}
    if view.search_match_type is not None:
        item["search_match_type"] = view.search_match_type
    return item


def full_item(view: FunctionView) -> FunctionFullItem:
    """One item of a list with ``full=true``."""
    item: FunctionFullItem = {**full_object(view)}
    if view.search_match_type is not None:
        item["search_match_type"] = view.search_match_type
    return item


def _common(view: FunctionView) -> FunctionOverview:
    """The 14 keys that both forms have."""
    row = view.row
    return {
        "id": str(row.id),
        "type": row.type,
        "name": row.name,
        "description": row.description,
        "created_at": iso_z(row.created_at),
        "created_by": view.user,
        "updated_at": iso_z(row.updated_at),
        "enabled": row.enabled,
        "hog": row.hog,
        "filters": row.filters,
        "icon_url": row.icon_url,
        "template": view.template,
        "status": view.status,
        "execution_order": row.execution_order,
    }


def _mappings(view: FunctionView) -> list[FunctionMapping] | None:
    mappings = view.row.mappings
    if mappings is None:
        return None
    return [_mapping(item, view.mapping_secrets.get(str(i), {})) for i, item in enumerate(mappings)]


def _mapping(item: FunctionMapping, secrets: SecretValues) -> FunctionMapping:
    if "inputs" not in item:
        return item
    keys = secret_keys(item.get("inputs_schema") or [])
    encrypted = {key: secrets[key] for key in keys if key in secrets}
    return {**item, "inputs": visible_inputs([], item["inputs"] or {}, encrypted)}


class FunctionPresenter:
    """Converts rows to views.

    Args:
        box: decrypts secrets, to list which are set.
        templates: the current templates.
        watcher: provides states.
    """

    def __init__(self, box: SecretBox, templates: Templates, watcher: Watcher) -> None:
        self.box = box
        self._templates = templates
        self._watcher = watcher

    async def view(self, session: AsyncSession, row: HogFunctionRow) -> FunctionView:
        """Convert one row."""
        return (await self.all(session, [row]))[0]

    async def all(
        self, session: AsyncSession, rows: Sequence[HogFunctionRow]
    ) -> list[FunctionView]:
        """Convert several rows; keeps their order."""
        users = await users_by_id(session, {row.created_by for row in rows})
        statuses = await self._watcher.statuses(session, rows)
        return [self._with_parts(row, users, statuses[row.id]) for row in rows]

    def _with_parts(
        self, row: HogFunctionRow, users: dict[int, User], status: Status
    ) -> FunctionView:
        template = self._templates.find(row.template_id)
        secrets, mapping_secrets = self._secrets_of(row)
        return FunctionView(
            row=row,
            user=user_object(users.get(row.created_by or 0)),
            template=None if template is None else template.as_json(),
            status=status,
            secrets=secrets,
            mapping_secrets=mapping_secrets,
            draft=self._draft_of(row),
        )

    def _draft_of(self, row: HogFunctionRow) -> SentFields | None:
        """The drafted fields; empty if they cannot be decrypted, None without a draft."""
        if row.draft is None:
            return None
        try:
            return self.box.open(row.draft)["fields"]
        except SecretsUnreadable:
            return {}

    def _secrets_of(self, row: HogFunctionRow) -> tuple[SecretValues, MappingSecrets]:
        """The decrypted secrets, or only their names if they cannot be decrypted."""
        try:
            return self.box.open(row.secrets), self.box.open(row.mapping_secrets)
        except SecretsUnreadable:
            return {key: {} for key in secret_keys(row.inputs_schema)}, {}

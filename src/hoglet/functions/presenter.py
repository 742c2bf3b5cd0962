"""Loads the related data of functions for responses: users, templates, states.

Source: docs/spec/hog-functions.md#2-the-function-object.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.principals import user_object
from hoglet.access.repository import users_by_id
from hoglet.functions.function_view import FunctionView
from hoglet.functions.inputs.secrets import secret_keys
from hoglet.functions.secrets.box import SecretBox, SecretsUnreadable
from hoglet.functions.tables import HogFunctionRow
from hoglet.functions.templates.registry import Templates
from hoglet.functions.watcher.service import Watcher


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
        """One row."""
        return (await self.all(session, [row]))[0]

    async def all(
        self, session: AsyncSession, rows: Sequence[HogFunctionRow]
    ) -> list[FunctionView]:
        """Rows, in their order."""
        users = await users_by_id(session, {row.created_by for row in rows})
        statuses = await self._watcher.statuses(session, rows)
        return [self._with_parts(row, users, statuses[row.id]) for row in rows]

    def _with_parts(
        self, row: HogFunctionRow, users: dict[int, Any], status: dict[str, int]
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

    def _draft_of(self, row: HogFunctionRow) -> dict[str, Any] | None:
        """The drafted fields; none of them if they cannot be decrypted."""
        if row.draft is None:
            return None
        try:
            return self.box.open(row.draft)["fields"]
        except SecretsUnreadable:
            return {}

    def _secrets_of(self, row: HogFunctionRow) -> tuple[dict[str, Any], dict[str, Any]]:
        """The decrypted secrets, or only their names if they cannot be decrypted."""
        try:
            return self.box.open(row.secrets), self.box.open(row.mapping_secrets)
        except SecretsUnreadable:
            return {key: {} for key in secret_keys(row.inputs_schema)}, {}

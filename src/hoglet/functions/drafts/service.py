"""Saves, discards and publishes drafts; the live function does not change until it is published."""

import asyncio
from typing import Any
from weakref import WeakValueDictionary

from msgspec import structs

from hoglet.access.activity import FieldChange
from hoglet.access.principals import ProjectScope
from hoglet.functions.compile.messages import CodeWarning
from hoglet.functions.drafts.fields import merged, of_draft, read_draft
from hoglet.functions.json_types import SentFields
from hoglet.functions.presenter import FunctionView
from hoglet.functions.service import FunctionService
from hoglet.functions.tables import HogFunctionRow
from hoglet.kit.errors import Invalid, Unavailable

_ATTEMPTS = 5  # other processes write it too; more conflicts mean something is wrong


class Drafts:
    """Drafts of functions.

    Args:
        functions: the functions.
    """

    def __init__(self, functions: FunctionService) -> None:
        self._functions = functions
        self._saves = WeakValueDictionary[str, asyncio.Lock]()

    async def save(self, scope: ProjectScope, function_id: str, draft: Any) -> FunctionView:
        """Apply fields to the draft; None discards it.

        Raises:
            NotFound: no such function.
            Invalid: the draft could not be published (attr ``draft__…``).
        """
        sent = None if draft is None else read_draft(draft)
        async with self._saves.setdefault(function_id, asyncio.Lock()):
            for _ in range(_ATTEMPTS):
                view = await self._try_save(scope, function_id, sent)
                if view is not None:
                    return view
        raise Unavailable("This function is being changed by another request. Try again.")

    async def publish(self, scope: ProjectScope, function_id: str) -> FunctionView:
        """Make the draft the live function.

        Raises:
            NotFound: no such function.
            Invalid: there is no draft, or it violates a current rule (attr ``draft__…``).
        """
        for _ in range(_ATTEMPTS):
            async with self._functions.database.read() as session:
                row = await self._functions.row(session, scope.project.id, function_id)
            fields = fields_of(self._functions, row)
            if fields is None:
                raise no_draft()
            try:
                view = await self._functions.publish(scope, row, fields)
            except Invalid as error:
                raise of_draft(error) from None
            if view is not None:
                return view
        raise Unavailable("This function is being changed by another request. Try again.")

    async def _try_save(
        self, scope: ProjectScope, function_id: str, sent: SentFields | None
    ) -> FunctionView | None:
        """Save the draft and return the function; None if it was changed in the meantime."""
        functions = self._functions
        async with functions.database.read() as session:
            seen = await functions.row(session, scope.project.id, function_id)
        fields, warnings = None, list[CodeWarning]()
        if sent is not None:
            fields = merged(seen, fields_of(functions, seen) or {}, sent)
            warnings = await self._check(scope, seen, fields)
        async with functions.database.write() as session:
            row = await functions.row(session, scope.project.id, function_id, lock=True)
            if (row.version, row.draft_updated_at) != (seen.version, seen.draft_updated_at):
                return None
            before = None if row.draft is None else "saved"
            row.draft = None if fields is None else functions.box.encrypt({"fields": fields})
            row.draft_updated_at = None if fields is None else functions.clock.now()
            row.has_drafts = row.has_drafts or fields is not None
            after = None if fields is None else sorted(fields)
            await functions.record(session, scope, row, "updated", [_change(before, after)])
            await session.flush()
            view = await functions.presenter.view(session, row)
            return view._replace(warnings=warnings)

    async def _check(
        self, scope: ProjectScope, row: HogFunctionRow, fields: SentFields
    ) -> list[CodeWarning]:
        """Compile the draft as publishing it would, and return the warnings (attr ``draft__…``).

        Raises:
            Invalid: attr ``draft__…``.
        """
        planner = self._functions.planner
        try:
            planner.check_stored(row)
            plan = planner.change(row, fields)
            plan.check_running()
            compiled = await planner.compile(scope.project, plan)
        except Invalid as error:
            raise of_draft(error) from None
        return [structs.replace(each, attr=f"draft__{each.attr}") for each in compiled.warnings]


def fields_of(functions: FunctionService, row: HogFunctionRow) -> SentFields | None:
    """The drafted fields with secrets in plain text; None without a draft."""
    return None if row.draft is None else functions.box.open(row.draft)["fields"]


def no_draft() -> Invalid:
    """400 for a function without a draft."""
    return Invalid("This function has no draft.", attr="draft")


def _change(before: Any, after: Any) -> FieldChange:
    action = "created" if before is None else "deleted" if after is None else "changed"
    return FieldChange("draft", action, before, after)

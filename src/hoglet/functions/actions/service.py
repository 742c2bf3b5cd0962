"""Actions: named sets of event conditions that filters refer to.

Saving one enqueues the recompilation of the functions that use it, in the same transaction.

Source: docs/spec/hog-functions.md#51-expression-and-bytecode,
docs/spec/hog-functions.md#55-bytecode_error and docs/spec/hog-functions.md#15-bootstrap-routes
(``…/actions/``).
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, TypedDict, cast

from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.activity import Activity, ActivityLog, Fields, changes_between
from hoglet.access.principals import ProjectScope, user_object
from hoglet.access.repository import users_by_id
from hoglet.access.schemas import UserObject
from hoglet.functions.actions import repository as action_repository
from hoglet.functions.json_types import ActionStep, PropertyFilter
from hoglet.functions.tables import ActionRow
from hoglet.kit.clock import Clock, iso_z
from hoglet.kit.errors import Invalid, NotFound
from hoglet.kit.json import JsonObject, is_array, is_object
from hoglet.kit.property_operators import OPERATORS
from hoglet.kit.property_types import PROPERTY_TYPES
from hoglet.kit.suggestions import near
from hoglet.store.database import Database
from hoglet.web.openapi import extensible
from hoglet.web.pagination import PageRequest
from hoglet.web.validation import Body, Text, validate

ACTIVITY_SCOPE = "Action"
MAX_STEPS = 100  # per action; keeps compiled filters small
_LOGGED = ("name", "description", "steps", "deleted")
_STEP_KEYS = ("event", "url", "url_matching", "properties", "selector", "tag_name", "text", "href")

type Recompile = Callable[[AsyncSession, int, int], Awaitable[None]]
"""Enqueues the recompilation of the functions that use an action: (session, project, action)."""

type Matching = Literal["contains", "regex", "exact"]


class StepFields(Body):
    """One step of an action."""

    event: Text | None = None
    url: Text | None = None
    url_matching: Matching | None = None
    properties: list[PropertyFilter] | None = None
    selector: Text | None = None
    tag_name: Text | None = None
    text: Text | None = None
    text_matching: Matching | None = None
    href: Text | None = None
    href_matching: Matching | None = None


class ActionFields(Body):
    """Writable fields of an action."""

    name: Text | None = Field(default=None, max_length=400)
    description: Text = ""
    steps: list[StepFields] = Field(default_factory=list, max_length=MAX_STEPS)
    deleted: bool = False


class ActionChanges(TypedDict, total=False):
    """The fields of an action that a request sent."""

    name: str | None
    description: str
    steps: list[ActionStep]
    deleted: bool


@extensible
class ActionObject(TypedDict):
    """A named set of event conditions, in the form of the API."""

    id: int
    name: str | None
    description: str
    steps: list[ActionStep]
    deleted: bool
    created_at: str
    updated_at: str
    created_by: UserObject | None


class ActionService:
    """The actions of all projects.

    Args:
        database: stores them.
        clock: the current time.
        activity: gets an entry for every save.
        recompile: enqueues the recompilation of the functions that use an action.
        changed: called after every save, so that queries see the action at once.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        activity: ActivityLog,
        recompile: Recompile,
        *,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._activity = activity
        self._recompile = recompile
        self._changed = changed

    async def page(self, scope: ProjectScope, page: PageRequest) -> tuple[int, list[ActionObject]]:
        """A page of actions and the total count."""
        async with self._database.read() as session:
            count = await action_repository.count(session, scope.project.id)
            rows = await action_repository.page(
                session, scope.project.id, limit=page.limit, offset=page.offset
            )
            return count, [await _display(session, row) for row in rows]

    async def create(self, scope: ProjectScope, body: JsonObject) -> ActionObject:
        """Create an action.

        Raises:
            Invalid: the body is invalid; reports the first error.
        """
        sent = _read(body)
        async with self._database.write() as session:
            now = self._clock.now()
            row = ActionRow(
                **{"name": None, "description": "", "steps": [], "deleted": False, **sent},
                project_id=scope.project.id,
                created_at=now,
                updated_at=now,
                created_by=scope.user_id,
            )
            session.add(row)
            await session.flush()
            await self._record(session, scope, row, "created", {})
            view = await _display(session, row)
        self._changed()
        return view

    async def get(self, scope: ProjectScope, action_id: str) -> ActionObject:
        """Get an action.

        Raises:
            NotFound: no such action in the project.
        """
        async with self._database.read() as session:
            return await _display(session, await self._row(session, scope, action_id))

    async def update(self, scope: ProjectScope, action_id: str, body: JsonObject) -> ActionObject:
        """Update an action and recompile the functions that use it.

        Raises:
            NotFound: no such action in the project.
            Invalid: the body is invalid; reports the first error.
        """
        sent = _read(body)
        async with self._database.write() as session:
            row = await self._row(session, scope, action_id, lock=True)
            before = {name: getattr(row, name) for name in _LOGGED}
            for name, value in sent.items():
                setattr(row, name, value)
            row.updated_at = self._clock.now()
            await self._record(session, scope, row, "updated", before)
            await self._recompile(session, row.project_id, row.id)
            view = await _display(session, row)
        self._changed()
        return view

    async def _row(
        self, session: AsyncSession, scope: ProjectScope, action_id: str, *, lock: bool = False
    ) -> ActionRow:
        if not action_repository.is_action_id(action_id):
            raise NotFound
        row = await action_repository.find(session, scope.project.id, int(action_id), lock=lock)
        if row is None:
            raise NotFound
        return row

    async def _record(
        self,
        session: AsyncSession,
        scope: ProjectScope,
        row: ActionRow,
        activity: str,
        before: Fields,
    ) -> None:
        after = {name: getattr(row, name) for name in _LOGGED}
        changes = changes_between(before, after)
        entry = Activity.by(scope, activity, ACTIVITY_SCOPE, (row.id, row.name), changes)
        await self._activity.record(session, entry)


def _read(body: JsonObject) -> ActionChanges:
    fields = validate(ActionFields, body)
    sent = {name: getattr(fields, name) for name in fields.model_fields_set}
    if "steps" in sent:
        sent["steps"] = [step.model_dump(exclude_unset=True) for step in fields.steps]
        for index, step in enumerate(fields.steps):
            _check_filters(step.properties or [], f"steps__{index}__properties")
    return cast("ActionChanges", sent)


def _check_filters(filters: Sequence[Any], path: str) -> None:
    """Reject property filters of an unknown type, or with an unknown operator.

    Raises:
        Invalid: ``attr`` is the path of the type or the operator.
    """
    for index, item in enumerate(filters):
        item_path, values = f"{path}__{index}", item.get("values") if is_object(item) else None
        if is_array(values) and not item.get("key"):
            _check_filters(values, f"{item_path}__values")
            continue
        for key, known in (("type", PROPERTY_TYPES), ("operator", OPERATORS)):
            value = item.get(key) if is_object(item) else None
            if value is not None and not (isinstance(value, str) and value in known):
                hint = near(str(value), known) or f" Use one of {', '.join(known)}."
                raise Invalid(
                    f'"{value}" is not a valid choice.{hint}',
                    code="invalid_choice",
                    attr=f"{item_path}__{key}",
                )


async def _display(session: AsyncSession, row: ActionRow) -> ActionObject:
    users = await users_by_id(session, [row.created_by])
    return {
        "id": row.id,
        "name": row.name,
        "description": row.description,
        "steps": [dict.fromkeys(_STEP_KEYS) | step for step in row.steps],
        "deleted": row.deleted,
        "created_at": iso_z(row.created_at),
        "updated_at": iso_z(row.updated_at),
        "created_by": user_object(users.get(row.created_by or 0)),
    }

"""Plans saves, and turns plans into stored values.

Saves, test runs and recompilations share it, so the same rules apply to all three.

Source: docs/spec/hog-functions.md#3-writing-rows-2-and-4 and
docs/spec/hog-functions.md#55-bytecode_error.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import cast

import msgspec
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.principals import Project
from hoglet.functions import types
from hoglet.functions.actions import repository as action_repository
from hoglet.functions.compile.compiler import Compiler
from hoglet.functions.compile.messages import CompiledFunction
from hoglet.functions.executable.model import HostConfig
from hoglet.functions.filters.context import FilterContext
from hoglet.functions.json_types import (
    CompiledColumns,
    FunctionColumns,
    FunctionFilters,
    FunctionMapping,
    MappingSecrets,
    PropertyFilter,
    SecretValues,
    SentFields,
)
from hoglet.functions.save.plan import NEW, SavePlan
from hoglet.functions.schemas import read_fields
from hoglet.functions.secrets.box import SecretBox, SecretsUnreadable
from hoglet.functions.tables import HogFunctionRow
from hoglet.functions.templates.registry import HIDDEN, Template, Templates
from hoglet.kit.clock import Clock
from hoglet.kit.errors import Invalid
from hoglet.kit.json import JsonObject, array_at, is_object
from hoglet.store.database import Database

type PropertyTypes = Callable[[AsyncSession, int], Awaitable[Mapping[tuple[str, str], str]]]
"""Project id to ``{("event", "paid"): "Boolean"}``."""


type CohortFilters = dict[str, list[PropertyFilter]]
"""Property filters of cohorts, by id as text: ``{"3": [{...}]}``."""

type CohortCriteria = Callable[[AsyncSession, int], Awaitable[CohortFilters]]
"""Project id to the cohorts available to test-account filters: ``{"3": [{...}]}``."""


async def no_cohort_criteria(_session: AsyncSession, _project_id: int) -> CohortFilters:
    """The default for cohorts: there are none."""
    return {}


async def no_property_types(_session: AsyncSession, _project_id: int) -> dict[tuple[str, str], str]:
    """The default for property types: none are known."""
    return {}


class CompileEnvironment(msgspec.Struct, frozen=True):
    """Everything outside a function that its compilation and its runs depend on.

    Args:
        compiler: compiles drafts.
        templates: templates for new functions.
        property_types: types of the properties a project has seen.
        cohorts: criteria of cohorts that are made of person properties.
        host_config: what the operator set up for programs.
    """

    compiler: Compiler
    templates: Templates
    property_types: PropertyTypes = no_property_types
    cohorts: CohortCriteria = no_cohort_criteria
    host_config: HostConfig = msgspec.field(default_factory=HostConfig)


class SavePlanner:
    """Plans saves and compiles what they need.

    Args:
        environment: compiles functions; templates, property types and cohorts.
        database: looks up actions.
        box: encrypts secrets.
        clock: reference for relative dates.
    """

    def __init__(
        self,
        environment: CompileEnvironment,
        *,
        database: Database,
        box: SecretBox,
        clock: Clock,
    ) -> None:
        self._environment = environment
        self._database = database
        self.box = box
        self._clock = clock

    def new(self, body: JsonObject) -> SavePlan:
        """Plan the creation of a function.

        Raises:
            Invalid: a rule that does not need compilation is violated.
        """
        template = self._template_of(body)
        sent = read_fields(body)
        sent["template_id"] = template.id if template else None
        return SavePlan(NEW, sent, secrets={}, mapping_secrets={}, template=template, is_new=True)

    def change(self, row: HogFunctionRow, sent: SentFields) -> SavePlan:
        """Plan an update of a stored function by ``sent``.

        Raises:
            Invalid: a rule that does not need compilation is violated.
        """
        return SavePlan(
            cast("FunctionColumns", {name: getattr(row, name) for name in NEW}),
            sent,
            secrets=self._opened(row.secrets),
            mapping_secrets=self._opened(row.mapping_secrets),
            template=self._environment.templates.find(row.template_id),
            is_new=False,
        )

    def check_stored(self, row: HogFunctionRow) -> None:
        """Reject changes to rows that cannot be changed.

        Raises:
            Invalid: its type is not supported by this API, or its template no longer exists.
        """
        if row.type == types.WAREHOUSE_SOURCE_WEBHOOK:
            raise Invalid("Functions of this type cannot be created or changed here.", attr="type")
        if row.template_id and self._environment.templates.find(row.template_id) is None:
            raise Invalid(f"No template found for id {row.template_id}.", attr="template_id")

    async def compile(
        self, project: Project, plan: SavePlan, *, must_match: bool = True
    ) -> CompiledFunction:
        """Compile all parts of a plan.

        Args:
            project: provides actions and settings for filters.
            plan: the plan.
            must_match: reject enabled functions whose filter does not compile.

        Raises:
            Invalid: the first part that does not compile.
        """
        draft = plan.draft(await self._context(project, plan))
        draft.must_match = draft.must_match and must_match
        return await self._environment.compiler.compile(draft)

    async def _context(self, project: Project, plan: SavePlan) -> FilterContext:
        """The filter context of a save."""
        ids = action_ids([plan.values["filters"], *filters_of(plan.values["mappings"])])
        async with self._database.read() as session:
            actions = {}
            if ids:
                actions = await action_repository.steps_by_id(session, project.id, ids)
            types_ = await self._environment.property_types(session, project.id)
            cohorts = {}
            if project.test_account_filters:
                cohorts = await self._environment.cohorts(session, project.id)
        return FilterContext(
            now=self._clock.now(),
            timezone=project.timezone,
            week_start_day=project.week_start_day,
            test_account_filters=[f for f in project.test_account_filters if is_object(f)],
            actions=actions,
            cohorts=cohorts,
            boolean_properties=[
                f"{scope}:{name}" for (scope, name), kind in types_.items() if kind == "Boolean"
            ],
        )

    def fill(self, row: HogFunctionRow, values: CompiledColumns) -> None:
        """Write column values to a row, with secrets encrypted."""
        for name, value in values.items():
            if name not in {"secrets", "mapping_secrets", "state"}:
                setattr(row, name, value)
        row.secrets = self._encrypted(row.secrets, values["secrets"])
        row.mapping_secrets = self._encrypted(row.mapping_secrets, values["mapping_secrets"])

    def _encrypted(self, stored: str | None, secrets: SecretValues | MappingSecrets) -> str | None:
        """The encrypted text; unchanged or undecryptable secrets keep their text."""
        if stored and self._opened(stored) == secrets:
            return stored
        return self.box.encrypt(secrets)

    def _opened(self, encrypted: str | None) -> SecretValues:
        """The decrypted secrets; empty if they cannot be decrypted."""
        try:
            return self.box.open(encrypted)
        except SecretsUnreadable:
            return {}

    def _template_of(self, body: JsonObject) -> Template | None:
        template_id = body.get("template_id")
        template_id = template_id.strip() if isinstance(template_id, str) else template_id
        if template_id is None or template_id == "":
            return None
        template = (
            self._environment.templates.find(template_id) if isinstance(template_id, str) else None
        )
        if template is None:
            raise Invalid(f"No template found for id {template_id}.", attr="template_id")
        if template.status == HIDDEN:
            raise Invalid(f"The template {template_id} is internal.", attr="template_id")
        return template


def filters_of(mappings: Sequence[FunctionMapping] | None) -> list[FunctionFilters]:
    """The filters of mappings."""
    return [mapping.get("filters") or {} for mapping in mappings or []]


def action_ids(filters: Sequence[FunctionFilters]) -> set[str]:
    """The ids of actions in filters, as strings."""
    return {str(entry.get("id")) for item in filters for entry in array_at(item, "actions")}

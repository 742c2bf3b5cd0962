"""Members of cohorts in the warehouse: writes them in one statement, counts and reads them.

Rows have the id of their calculation. Readers know which id is valid, so no rows are replaced.
"""

from collections.abc import Collection, Sequence
from uuid import UUID

from hoglet.cohorts.messages import PersonsSql
from hoglet.warehouse import InsertSelect, QueryBudget, Warehouse
from hoglet.warehouse.port import MEGABYTE

TABLE = "cohort_members"
_COLUMNS = ("project_id", "cohort_id", "calculation_id", "person_id", "is_deleted", "revision")
_OF_COHORT = "project_id = {project:Int64} AND cohort_id = {cohort:Int64}"
_ROWS = 50_000
_SPILLS_AT = 256 * MEGABYTE
_MEMORY = 1024 * MEGABYTE


class CohortMembers:
    """Reads and writes members.

    Args:
        warehouse: stores them.
        seconds: time limit of a calculation.
    """

    def __init__(self, warehouse: Warehouse, *, seconds: float) -> None:
        self._warehouse = warehouse
        self._seconds = seconds

    async def compute(
        self, key: tuple[int, int, int], persons: PersonsSql, *, revision: int = 0
    ) -> None:
        """Store the persons of a query as members, inside the warehouse, in bounded memory.

        Args:
            key: project, cohort and calculation.
            persons: a query of one column, ``person_id``.
            revision: the revision of a static cohort.
        """
        project, cohort, calculation = key
        select = (
            "SELECT {member_project:Int64}, {member_cohort:Int64}, {member_calculation:Int64}, "  # noqa: S608 (compiled)
            f"person_id, 0, {{member_revision:UInt64}} FROM ({persons.sql}) "
            f"SETTINGS max_bytes_before_external_group_by = {_SPILLS_AT}, "
            f"max_bytes_before_external_sort = {_SPILLS_AT}, max_memory_usage = {_MEMORY}, "
            "join_algorithm = 'grace_hash'"
        )
        params = persons.params | {
            "member_project": project,
            "member_cohort": cohort,
            "member_calculation": calculation,
            "member_revision": revision,
        }
        await self._warehouse.insert_select(
            InsertSelect(TABLE, _COLUMNS, select, params), seconds=self._seconds
        )

    async def put(
        self,
        key: tuple[int, int, int],
        persons: Collection[UUID],
        *,
        revision: int,
        is_deleted: bool = False,
    ) -> None:
        """Add or remove persons of a static cohort."""
        rows = [[*key, person, int(is_deleted), revision] for person in persons]
        for start in range(0, len(rows), _ROWS):
            await self._warehouse.insert(TABLE, _COLUMNS, rows[start : start + _ROWS])

    async def count(self, key: tuple[int, int, int]) -> int:
        """Number of members of a calculation."""
        project, cohort, calculation = key
        result = await self._warehouse.query(
            f"SELECT count() FROM {TABLE} FINAL WHERE {_OF_COHORT} "  # noqa: S608
            "AND calculation_id = {calculation:Int64} AND is_deleted = 0",
            {"project": project, "cohort": cohort, "calculation": calculation},
        )
        return int(result.rows[0][0])

    async def first_value(self, query: PersonsSql) -> str | None:
        """The first value of a query of one column; None if it has no rows."""
        result = await self._warehouse.query(
            query.sql, query.params, budget=QueryBudget(seconds=self._seconds)
        )
        return str(result.rows[0][0]) if result.rows else None

    async def memberships(
        self, project_id: int, persons: Collection[UUID], pairs: Sequence[tuple[int, int]]
    ) -> set[tuple[int, UUID]]:
        """Which persons are in which cohorts, as ``(cohort, person)``.

        Args:
            project_id: the project of the cohorts.
            persons: the persons to look for.
            pairs: the cohorts to look in, with their calculations.
        """
        if not pairs or not persons:
            return set()
        current = ", ".join(f"({cohort}, {calculation})" for cohort, calculation in pairs)
        result = await self._warehouse.query(
            "SELECT cohort_id, person_id "  # noqa: S608 (numbers)
            f"FROM {TABLE} FINAL WHERE project_id = {{project:Int64}} "
            f"AND (cohort_id, calculation_id) IN ({current}) "
            "AND person_id IN {persons:Array(UUID)} AND is_deleted = 0",
            {"project": project_id, "persons": [str(person) for person in persons]},
        )
        return {(int(cohort), UUID(str(person))) for cohort, person in result.rows}

    async def forget_before(self, key: tuple[int, int, int]) -> None:
        """Delete the members of a cohort's older calculations."""
        await self._forget(key, "<")

    async def forget(self, key: tuple[int, int, int]) -> None:
        """Delete the members of a calculation."""
        await self._forget(key, "=")

    async def _forget(self, key: tuple[int, int, int], sign: str) -> None:
        project, cohort, calculation = key
        await self._warehouse.delete_rows(
            TABLE,
            f"project_id = {int(project)} AND cohort_id = {int(cohort)} "
            f"AND calculation_id {sign} {int(calculation)}",
        )

"""Shared by the jobs of dynamic and static cohorts: collaborators, and recording outcomes."""

from collections.abc import Callable

import msgspec

from hoglet.cohorts.compiler import CohortCompiler
from hoglet.cohorts.members import CohortMembers
from hoglet.cohorts.tables import CohortRow
from hoglet.kit.clock import Clock
from hoglet.store.database import Database


class MemberComputation(msgspec.Struct, frozen=True):
    """Base of the classes that compute the members of cohorts.

    Attributes:
        database: stores cohorts, their history, uploads and persons.
        clock: the current time.
        compiler: compiles queries and criteria.
        members: stores the result.
        changed: called after each outcome, so that queries use it at once.
    """

    database: Database
    clock: Clock
    compiler: CohortCompiler
    members: CohortMembers
    changed: Callable[[], None]

    def record_failure(self, row: CohortRow, message: str) -> None:
        """Count an error; the members stay as they are."""
        record_failure(row, self.clock, message)


def record_failure(row: CohortRow, clock: Clock, message: str) -> None:
    """Count an error and clear the calculating flag; the members stay as they are."""
    _clear_flag(row)
    row.errors_calculating += 1
    row.last_error_at = clock.now()
    row.last_error_message = message


def clear_errors(row: CohortRow) -> None:
    """Clear the calculating flag and earlier errors after a success."""
    _clear_flag(row)
    row.errors_calculating = 0
    row.last_error_at = row.last_error_message = None


def _clear_flag(row: CohortRow) -> None:
    row.is_calculating = False
    row.calculating_since = None

"""Looks up cohorts by id or name, for queries and filters.

Source: docs/spec/data-and-queries.md#36-use.
"""

from typing import Any

from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import near, refused


def find_cohort(wanted: Any, context: QueryContext, node: Any = None) -> int:
    """The id of a cohort in the project.

    Args:
        wanted: an id or a name; digits are an id unless a cohort has them as its name.
        context: the project.
        node: the position in the query, for errors.

    Raises:
        SourceError: no cohort or several cohorts match.
    """
    cohorts = context.cohorts
    if isinstance(wanted, str):
        named = sorted(int(key) for key, cohort in cohorts.items() if cohort.name == wanted)
        if len(named) > 1:
            ids = ", ".join(map(str, named))
            raise refused(f"Several cohorts are named '{wanted}': use one of the ids {ids}", node)
        if named:
            return named[0]
    key = str(wanted).strip()
    if key.isascii() and key.isdecimal() and str(int(key)) in cohorts:
        return int(key)
    if key.isascii() and key.isdecimal():
        raise refused(f"Cohort {wanted} does not exist.", node)
    names = [cohort.name for cohort in cohorts.values()]
    raise refused(f"Cohort '{wanted}' does not exist.{near(key, names)}", node)

"""Looks up cohorts by id or name, for queries and filters.

Source: docs/spec/data-and-queries.md#36-use.
"""

from typing import Any

from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import near, refused


def find_cohort(id_or_name: Any, context: QueryContext, node: Any = None) -> int:
    """The id of a cohort in the project.

    Args:
        id_or_name: an id or a name; digits are an id unless a cohort has them as its name.
        context: the project.
        node: the position in the query, for errors.

    Raises:
        SourceError: no cohort or several cohorts match.
    """
    cohorts = context.cohorts
    if isinstance(id_or_name, str):
        named = sorted(int(key) for key, cohort in cohorts.items() if cohort.name == id_or_name)
        if len(named) > 1:
            ids = ", ".join(map(str, named))
            raise refused(
                f"Several cohorts are named '{id_or_name}': use one of the ids {ids}", node
            )
        if named:
            return named[0]
    key = str(id_or_name).strip()
    if key.isascii() and key.isdecimal() and str(int(key)) in cohorts:
        return int(key)
    if key.isascii() and key.isdecimal():
        raise refused(f"Cohort {id_or_name} does not exist.", node)
    names = [cohort.name for cohort in cohorts.values()]
    raise refused(f"Cohort '{id_or_name}' does not exist.{near(key, names)}", node)

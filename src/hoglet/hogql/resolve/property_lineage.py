"""Tracks which property bag a column comes from, through subqueries and CTEs.

``WITH e AS (SELECT * FROM events) SELECT sum(properties.price) FROM e`` reads numbers, as from the
table itself.
"""

from hoglet.hogql.plan import Name, Relation, Scan, Select, SetQuery, TrustedSQL
from hoglet.hogql.schema.catalog import LAZY_TABLES
from hoglet.hogql.schema.events import PERSON_ON_EVENT
from hoglet.hogql.schema.fields import Properties

_BAGS: dict[tuple[str, str, str], str] = {
    (table.physical, table.where, field.text): field.kind
    for table in LAZY_TABLES.values()
    for field in (*table.fields.values(), *PERSON_ON_EVENT.fields.values())
    if isinstance(field, Properties)
}


def bag_of(relation: Relation, column: str) -> str | None:
    """``event``, ``person`` or ``group`` if the column is a whole property bag, else None."""
    if isinstance(relation, SetQuery):
        kinds = {_place_in_set(each, relation, column) for each in _queries(relation)}
        return kinds.pop() if len(kinds) == 1 else None
    if not isinstance(relation, Scan | Select):
        return None
    expr = dict(relation.columns).get(column)
    if not isinstance(expr, Name):
        return None
    if isinstance(relation, Scan):
        return _BAGS.get((relation.table, _fixed_part(relation), expr.name))
    inner = next((each for each in relation.joins if each.alias == expr.source), None)
    return None if inner is None else bag_of(inner.relation, expr.name)


def _fixed_part(scan: Scan) -> str:
    """The table's own condition, which distinguishes groups of one type from all groups."""
    part = scan.where.parts[0] if isinstance(scan.where, TrustedSQL) else ""
    return part.split(" AND ")[0] if isinstance(part, str) else ""


def _queries(relation: SetQuery) -> tuple[Relation, ...]:
    return (relation.first, *(query for _, query in relation.rest))


def _place_in_set(query: Relation, whole: SetQuery, column: str) -> str | None:
    """Columns of a set operation have the names of its first query and matching positions."""
    first = whole.first
    while isinstance(first, SetQuery):
        first = first.first
    if not isinstance(first, Scan | Select) or not isinstance(query, Scan | Select):
        return None
    names = [name for name, _ in first.columns]
    if column not in names or names.index(column) >= len(query.columns):
        return None
    return bag_of(query, query.columns[names.index(column)][0])

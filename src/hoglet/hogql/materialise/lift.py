"""Compared columns carried outwards: added to SELECT under the code name, and to GROUP BY.

Source: spec/query-endpoints.md section 7.3.
"""

from typing import Any

from hoglet.hogql.functions import find_function
from hoglet.hogql.materialise.predicates import (
    EQUALITY,
    Predicate,
    take_predicates,
    variables_in,
)
from hoglet.hogql.materialise.refusal import Refusal
from hoglet.hogql.trees import Expression, alias, changed, field, same, walk
from hoglet.syntax import tree


def aggregates_in(node: Any) -> list[tree.Call]:
    """Aggregate calls of a select's own items; those of subqueries are not its own."""
    if isinstance(node, tree.SelectQuery | tree.SelectSetQuery):
        return []
    found: list[tree.Call] = []
    for each in _own(node):
        if isinstance(each, tree.Call):
            function = find_function(each.name)
            if function is not None and function.aggregate:
                found.append(each)
    return found


def _own(node: Any) -> list[tree.Node]:
    if isinstance(node, tree.SelectQuery | tree.SelectSetQuery):
        return []
    if isinstance(node, tree.Node):
        names = (name for name in node.__struct_fields__ if name not in {"start", "end"})
        return [node, *(found for name in names for found in _own(getattr(node, name)))]
    if isinstance(node, tuple):
        return [found for item in node for found in _own(item)]
    return []


def is_aggregated(select: tree.SelectQuery) -> bool:
    """Whether a select groups rows."""
    return bool(select.group_by or select.group_by_mode or aggregates_in(select.select))


def add_columns(select: tree.SelectQuery, columns: dict[str, Expression]) -> tree.SelectQuery:
    """The select with more columns, grouped by too where it groups.

    Raises:
        Refusal: a code name is already the alias of something else.
    """
    added: list[Expression] = []
    for code, expr in columns.items():
        taken = next((item for item in select.select if _label(item) == code), None)
        if taken is None:
            added.append(alias(code, expr))
        elif not same(taken.expr if isinstance(taken, tree.Alias) else taken, expr):
            raise Refusal(f"'{code}' is both a variable and an alias of another expression")
    group_by = select.group_by
    if is_aggregated(select) and select.group_by_mode != "all":
        missing = [expr for expr in columns.values() if not _grouped(select, expr)]
        group_by = (*(group_by or ()), *missing)
    return changed(select, select=(*select.select, *added), group_by=group_by)


def column_name(code: str, expr: Expression, select: tree.SelectQuery) -> str:
    """What a kept column is called: the code name, unless that would hide a column in use.

    ``toStartOfDay(timestamp) AS timestamp`` would change what ``timestamp`` means in WHERE.
    """
    itself = isinstance(expr, tree.Field) and expr.chain == (code,)
    nodes = [*walk(select), *walk(expr)]
    used = any(isinstance(node, tree.Field) and node.chain[0] == code for node in nodes)
    return code if itself or not used else f"{code}__value"


def _grouped(select: tree.SelectQuery, expr: Expression) -> bool:
    return any(same(item, expr) for item in select.group_by or ())


def _label(item: Any) -> str | None:
    if isinstance(item, tree.Alias):
        return item.alias
    return str(item.chain[-1]) if isinstance(item, tree.Field) else None


def refuse_unsound(select: tree.SelectQuery, *, inner: bool) -> None:
    """Refuse shapes for which filtering afterwards is not the same as filtering before.

    Raises:
        Refusal: windows, LIMIT BY and the like; inside a CTE also LIMIT.
    """
    windows = any(isinstance(node, tree.WindowFunction) for node in walk(select.select))
    if windows or select.qualify is not None:
        raise Refusal("Variables together with window functions are not supported")
    if select.limit_by is not None or select.limit_with_ties:
        raise Refusal("Variables together with LIMIT BY or WITH TIES are not supported")
    if select.group_by_mode not in {None, "all"}:
        raise Refusal("Variables together with ROLLUP, CUBE or GROUPING SETS are not supported")
    if inner and (select.limit is not None or select.offset is not None):
        raise Refusal("Variables in a CTE with LIMIT are not supported")
    if inner and not select.group_by and aggregates_in(select.select):
        raise Refusal("Variables in a CTE that aggregates without GROUP BY are not supported")


def lift_ctes(select: tree.SelectQuery) -> tuple[tree.SelectQuery, list[Predicate]]:
    """Variables of one CTE carried to the top level, through the CTEs that read it.

    Returns:
        The select whose CTEs hold no variables, and the predicates, now on columns of the top.

    Raises:
        Refusal: a shape through which they cannot be carried soundly.
    """
    ctes = select.ctes or ()
    holders = [cte for cte in ctes if cte.cte_type == "subquery" and variables_in(cte.expr)]
    loose = [cte for cte in ctes if cte.cte_type != "subquery" and variables_in(cte.expr)]
    if loose:
        raise Refusal(f"Variable '{variables_in(loose[0].expr)[0]}' is used in a WITH expression")
    if not holders:
        return select, []
    if len(holders) > 1:
        raise Refusal("Variables are used in several CTEs")
    if variables_in(changed(select, ctes=None)):
        raise Refusal("Variables are used in both a CTE and the top level")
    return _carry(select, holders[0])


def _carry(select: tree.SelectQuery, holder: tree.CTE) -> tuple[tree.SelectQuery, list[Predicate]]:
    inner = holder.expr
    if not isinstance(inner, tree.SelectQuery):
        raise Refusal("Variables in a CTE with set operations are not supported")
    if inner.ctes:
        raise Refusal("Variables in nested CTEs are not supported")
    refuse_unsound(inner, inner=True)
    rest, found = take_predicates(inner)
    grouped = is_aggregated(inner) or inner.distinct
    if grouped and any(each.operator not in EQUALITY for each in found):
        raise Refusal("Range variables in a CTE that groups rows are not supported")
    columns = {each.code: each.column for each in found}
    for code, expr in columns.items():
        if column_name(code, expr, rest) != code:
            raise Refusal(f"'{code}' is both a variable and a column of the CTE it is used in")
    carried = {holder.name: add_columns(rest, columns)}
    codes: dict[str, Expression] = {code: field(code) for code in columns}
    ranged = any(each.operator not in EQUALITY for each in found)
    for cte in select.ctes or ():
        if cte is not holder and _reads(cte.expr, set(carried)):
            carried[cte.name] = _carry_on(cte.expr, carried, codes, ranged=ranged, inner=True)
    new_ctes = tuple(
        changed(cte, expr=carried[cte.name]) if cte.name in carried else cte
        for cte in select.ctes or ()
    )
    _check_reader(select, set(carried))
    lifted = changed(select, ctes=new_ctes)
    return lifted, [Predicate(each.code, each.operator, field(each.code)) for each in found]


def _carry_on(
    node: Any,
    carried: dict[str, tree.SelectQuery],
    codes: dict[str, Expression],
    *,
    ranged: bool,
    inner: bool,
) -> tree.SelectQuery:
    if not isinstance(node, tree.SelectQuery) or node.ctes:
        raise Refusal("Variables cannot be carried through set operations or nested CTEs")
    refuse_unsound(node, inner=inner)
    if ranged and (is_aggregated(node) or node.distinct):
        raise Refusal("Range variables in a CTE that groups rows are not supported")
    _check_reader(node, set(carried))
    return node if has_star(node) else add_columns(node, codes)


def has_star(select: tree.SelectQuery) -> bool:
    """Whether SELECT brings every column of its source, the carried ones included."""
    items = (getattr(item, "chain", ("",)) for item in select.select)
    return any(chain[-1] == "*" for chain in items) or any(
        isinstance(item, tree.ColumnsExpr) for item in select.select
    )


def _reads(node: Any, names: set[str]) -> bool:
    return _count_reads(node, names) > 0


def _count_reads(node: Any, names: set[str]) -> int:
    tables = [each.table for each in walk(node) if isinstance(each, tree.JoinExpr)]
    return sum(isinstance(each, tree.Field) and each.chain[0] in names for each in tables)


def _check_reader(select: tree.SelectQuery, names: set[str]) -> None:
    """A reader has exactly one source, the carrying CTE, and reads it nowhere else."""
    body = changed(select, ctes=None)
    source = body.select_from
    if source is None or source.next_join is not None:
        raise Refusal("A CTE with variables together with a JOIN is not supported")
    if not isinstance(source.table, tree.Field) or source.table.chain[0] not in names:
        raise Refusal("A CTE with variables must be the only source of what reads it")
    if _count_reads(body, names) != 1:
        raise Refusal("A CTE with variables is read in a nested subquery")

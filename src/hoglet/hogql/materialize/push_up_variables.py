"""Lifts variables of a CTE to the top level, through the CTEs that read it.

Their columns become columns of that CTE and of each later one, through UNION ALL and inner joins,
for which filtering before and after is equivalent.

Source: docs/spec/query-endpoints.md#72-what-can-be-materialized and
docs/spec/query-endpoints.md#73-how-variables-are-stored.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from hoglet.hogql.ast_builders import call, changed, field, same, walk
from hoglet.hogql.materialize.add_group_columns import (
    add_columns,
    column_name,
    has_star,
    label_of,
    refuse_unsound,
)
from hoglet.hogql.materialize.aggregates import is_aggregated
from hoglet.hogql.materialize.predicates import (
    EQUALITY,
    TEXT_HINT,
    Predicate,
    take_predicates,
    text_name,
    variables_in,
)
from hoglet.hogql.materialize.refusal import Refusal
from hoglet.syntax import tree

_INNER = frozenset({"JOIN", "INNER JOIN", "ALL JOIN", "ALL INNER JOIN", "INNER ALL JOIN"})


type HasText = Callable[[tree.SelectQuery, Predicate], bool]
"""Whether the column of a predicate is a property whose text must be stored too."""


def lift_ctes(
    select: tree.SelectQuery, has_text: HasText
) -> tuple[tree.SelectQuery, list[Predicate]]:
    """Lift variables of one CTE to the top level, through the CTEs that read it.

    Returns:
        The select whose CTEs have no variables, and the predicates on top-level columns.

    Raises:
        Refusal: a query through which they cannot be lifted soundly.
    """
    ctes = select.ctes or ()
    holders = [cte for cte in ctes if cte.cte_type == "subquery" and variables_in(cte.expr)]
    loose = [cte for cte in ctes if cte.cte_type != "subquery" and variables_in(cte.expr)]
    if loose:
        raise Refusal(f"Variable '{variables_in(loose[0].expr)[0]}' is used in a WITH expression")
    if not holders:
        return select, []
    if any(cte.recursive for cte in ctes):
        raise Refusal("WITH RECURSIVE together with variables is not supported")
    if len(holders) > 1:
        raise Refusal("Variables are used in several CTEs")
    if variables_in(changed(select, ctes=None)):
        raise Refusal("Variables are used in both a CTE and the top level")
    return _carry(select, holders[0], has_text)


def _carry(
    select: tree.SelectQuery, holder: tree.CTE, has_text: HasText
) -> tuple[tree.SelectQuery, list[Predicate]]:
    ctes = select.ctes or ()
    before = ctes[: ctes.index(holder)]
    rests, predicates = _take(holder.expr)
    texts = {
        each.code: text_name(each.code)
        for each in predicates
        if any(has_text(changed(rest, ctes=before or None), each) for rest in rests)
    }
    if texts and any(is_aggregated(rest) or rest.distinct for rest in rests):
        raise Refusal(
            f"Variable '{next(iter(texts))}' is compared with a property that is not text, in a "
            f"CTE that groups rows; {TEXT_HINT}"
        )
    columns = {each.code: each.column for each in predicates}
    columns |= {
        texts[each.code]: call("toString", each.column) for each in predicates if each.code in texts
    }
    for code, expr in columns.items():
        if any(column_name(code, expr, rest) != code for rest in rests):
            raise Refusal(f"'{code}' is both a variable and a column of the CTE it is used in")
    carried = {holder.name: _put_parts(holder.expr, [add_columns(rest, columns) for rest in rests])}
    ranged = bool(texts) or any(not each.is_exact for each in predicates)
    for cte in select.ctes or ():
        if cte is not holder and _reads(cte.expr, set(carried)):
            carried[cte.name] = _execute(cte.expr, set(carried), list(columns), ranged=ranged)
    new_ctes = tuple(
        changed(cte, expr=carried[cte.name]) if cte.name in carried else cte
        for cte in select.ctes or ()
    )
    if _reader(select, set(carried)) is not None:
        raise Refusal("A CTE with variables together with a JOIN is not supported")
    lifted = changed(select, ctes=new_ctes)
    return lifted, [_lifted(each, texts.get(each.code)) for each in predicates]


def _lifted(each: Predicate, text: str | None) -> Predicate:
    """The predicate on the lifted columns."""
    reported = None if text is None else field(text)
    return msgspec.structs.replace(each, column=field(each.code), text=reported)


def _take(node: Any) -> tuple[list[tree.SelectQuery], list[Predicate]]:
    """The selects of a CTE without predicates on variables, which are the same in each."""
    taken = [_take_one(part) for part in _parts_of(node)]
    predicates = taken[0][1]
    for rest, others in taken if len(taken) > 1 else ():
        _check_alike(predicates, others)
        for each in predicates:
            if any(label_of(item) == each.code for item in rest.select):
                raise Refusal(f"'{each.code}' is both a variable and a column of a UNION ALL")
    return [rest for rest, _ in taken], predicates


def _take_one(part: tree.SelectQuery) -> tuple[tree.SelectQuery, list[Predicate]]:
    refuse_unsound(part, inner=True)
    rest, predicates = take_predicates(part)
    grouped = is_aggregated(part) or part.distinct
    if grouped and any(each.operator not in EQUALITY for each in predicates):
        raise Refusal("Range variables in a CTE that groups rows are not supported")
    return rest, predicates


def _check_alike(some: list[Predicate], others: list[Predicate]) -> None:
    if {(each.code, each.operator) for each in some} != {
        (each.code, each.operator) for each in others
    }:
        raise Refusal("Each SELECT of a UNION ALL must use the same variables")
    for item in some:
        for other in others:
            if item.code == other.code and not same(item.column, other.column):
                raise Refusal(f"Variable '{item.code}' is compared against several columns")


def _execute(node: Any, names: set[str], codes: list[str], *, ranged: bool) -> Any:
    """A CTE that reads a lifted one, with the added columns."""
    parts = _parts_of(node)
    if len({has_star(part) for part in parts}) > 1:
        raise Refusal("'*' in a part of a UNION ALL over a CTE with variables is not supported")
    return _put_parts(node, [_carry_through(part, names, codes, ranged=ranged) for part in parts])


def _carry_through(
    part: tree.SelectQuery, names: set[str], codes: list[str], *, ranged: bool
) -> tree.SelectQuery:
    refuse_unsound(part, inner=True)
    if ranged and (is_aggregated(part) or part.distinct):
        raise Refusal("Range variables in a CTE that groups rows are not supported")
    joined = _reader(part, names)
    if joined is None:
        if has_star(part):
            return part
        return add_columns(part, {code: field(code) for code in codes})
    used = {node.chain[0] for node in walk(part) if isinstance(node, tree.Field)}
    if has_star(part) or used & set(codes):
        raise Refusal("A CTE with variables is joined to columns of the same name, or by '*'")
    return add_columns(part, {code: field(joined, code) for code in codes})


def _parts_of(node: Any) -> list[tree.SelectQuery]:
    """The selects of a SELECT or a UNION ALL.

    Raises:
        Refusal: another set operation, or one whose parts are not plain SELECTs.
    """
    selects: list[Any] = [node]
    if isinstance(node, tree.SelectSetQuery):
        others = node.subsequent_select_queries
        if any(other.set_operator != "UNION ALL" for other in others) or node.limit or node.offset:
            raise Refusal("Of set operations, only UNION ALL is supported for a CTE with variables")
        selects = [node.initial_select_query, *(other.select_query for other in others)]
    for select in selects:
        if not isinstance(select, tree.SelectQuery) or select.ctes:
            raise Refusal("Variables cannot be lifted through nested CTEs or set operations")
    return selects


def _put_parts(node: Any, parts: list[tree.SelectQuery]) -> Any:
    """The SELECT or UNION ALL with its selects replaced."""
    if not isinstance(node, tree.SelectSetQuery):
        return parts[0]
    others = tuple(
        changed(other, select_query=part)
        for other, part in zip(node.subsequent_select_queries, parts[1:], strict=True)
    )
    return changed(node, initial_select_query=parts[0], subsequent_select_queries=others)


def _reads(node: Any, names: set[str]) -> bool:
    return _count_reads(node, names) > 0


def _count_reads(node: Any, names: set[str]) -> int:
    tables = [each.table for each in walk(node) if isinstance(each, tree.JoinExpr)]
    return sum(isinstance(each, tree.Field) and each.chain[0] in names for each in tables)


def _reader(select: tree.SelectQuery, names: set[str]) -> str | None:
    """The alias of the lifted CTE where it is joined, None where it is read alone.

    It must be read once, with inner joins only, for which filtering before and after is equivalent.
    """
    body = changed(select, ctes=None)
    sources = _sources(body.select_from)
    carriers = [
        each
        for each in sources
        if isinstance(each.table, tree.Field) and each.table.chain[0] in names
    ]
    if _count_reads(body, names) != 1 or len(carriers) != 1:
        raise Refusal("A CTE with variables is read several times, or in a nested subquery")
    if any(each.join_type not in _INNER for each in sources[1:]):
        raise Refusal("A CTE with variables can only be joined by INNER JOIN")
    table: Any = carriers[0].table
    return None if len(sources) == 1 else carriers[0].alias or str(table.chain[-1])


def _sources(source: tree.JoinExpr | None) -> list[tree.JoinExpr]:
    return [] if source is None else [source, *_sources(source.next_join)]

"""LIMIT and OFFSET of a run: pages, maximums, and an exact ``hasMore``.

One row more than the page is requested (a probe) if more rows may exist; reaching the saved SQL's
own LIMIT does not count as more.

Source: docs/spec/query-endpoints.md#57-limit-offset-hasmore and
docs/spec/query-endpoints.md#103-limits-and-settings.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from hoglet.hogql.context import Limits
from hoglet.hogql.plan import Join, Name, Number, Relation, Select, column_types
from hoglet.hogql.types import INTEGER


class ResolvedLimit(msgspec.Struct, frozen=True):
    """The resolved limits.

    ``limit`` rows at ``offset`` make the page; ``saved`` and ``saved_offset`` are in the text;
    ``implicit`` says that neither text nor request has a limit; with ``probing`` the SQL requests
    one row more. ``limit`` is None for unlimited rows (materialization).
    """

    limit: int | None
    offset: int = 0
    saved: int | None = None
    implicit: bool = False
    probing: bool = False
    saved_offset: int = 0


def cut_page(rows: Sequence[Any], facts: ResolvedLimit) -> tuple[Sequence[Any], bool]:
    """The rows of the page and ``hasMore``.

    Example:
        >>> cut_page([1, 2, 3], ResolvedLimit(limit=2, probing=True))
        ([1, 2], True)
    """
    if facts.limit is None or len(rows) <= facts.limit:
        return rows, False
    return rows[: facts.limit], facts.probing


def apply_limits(
    relation: Relation, limits: Limits, limit: int | None, offset: int
) -> tuple[Relation, ResolvedLimit]:
    """The query with its page, and the resolved limits.

    Args:
        relation: the resolved outermost query.
        limits: defaults and maxima.
        limit: that of the request, or None.
        offset: that of the request.
    """
    if limits.max_limit is None:
        return relation, ResolvedLimit(limit=None)
    if not isinstance(relation, Select) or relation.with_ties:
        relation = _wrapped(relation)
    saved, saved_offset = _number(relation.limit), _number(relation.offset) or 0
    facts = _decide(limits, saved, limit, offset)
    facts = msgspec.structs.replace(facts, saved_offset=saved_offset)
    rows = (facts.limit or 0) + facts.probing
    skipped = saved_offset + facts.offset
    paged = msgspec.structs.replace(
        relation, limit=_literal(rows), offset=_literal(skipped) if skipped else None
    )
    return paged, facts


def _decide(limits: Limits, saved: int | None, limit: int | None, offset: int) -> ResolvedLimit:
    most = limits.max_limit or 0
    implicit = limit is None and saved is None
    requested = limit if limit is not None else (limits.default_limit if saved is None else saved)
    page = min(requested, most)
    if saved is None:
        return ResolvedLimit(page, offset, None, implicit, probing=True)
    left = max(saved - offset, 0)
    return ResolvedLimit(min(page, left), offset, saved, implicit, probing=page < left)


def _wrapped(relation: Relation) -> Select:
    columns = tuple(
        (name, Name(source="page", name=name, type=type_)) for name, type_ in column_types(relation)
    )
    return Select(columns=columns, joins=(Join(relation=relation, alias="page"),))


def _number(expr: Any) -> int | None:
    return int(expr.text) if isinstance(expr, Number) else None


def _literal(value: int) -> Number:
    return Number(text=str(value), type=INTEGER)

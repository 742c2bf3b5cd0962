"""The schema of stored queries: every key of each kind, with its default.

A query is stored and returned with every optional key, so that clients can compare it with what
they sent. Unknown keys are refused with their path.

Source: docs/spec/query-endpoints.md#23-query-expansion,
docs/spec/query-endpoints.md#3-create-and-update-bodies and
docs/spec/data-and-queries.md#74-closed-schema-of-nodes.
"""

from hoglet.endpoints.enums import HOGQL, QUERY_KINDS
from hoglet.hogql.query_json.nodes import NODES, QueryNode, default_of
from hoglet.hogql.query_json.upgrade import upgraded
from hoglet.hogql.query_json.validation import check_node
from hoglet.kit.errors import Invalid, SourceError
from hoglet.kit.suggestions import near
from hoglet.web.validation import NULL, REQUIRED

_REQUIRED = {
    HOGQL: ("query",),
    "TrendsQuery": ("series",),
    "FunnelsQuery": ("series",),
    "RetentionQuery": ("retentionFilter",),
    "PathsQuery": ("pathsFilter",),
    "LifecycleQuery": ("series",),
    "StickinessQuery": ("series",),
}


def expand(query: QueryNode, *, attr: str = "query") -> QueryNode:
    """Expand a query with the defaults of its kind.

    Args:
        query: as sent, e.g. ``{"kind": "HogQLQuery", "query": "SELECT 1"}``.
        attr: path of the query in the body.

    Returns:
        A new dict; keys in alphabetical order, legacy keys converted.

    Raises:
        Invalid: a kind that is not supported, a missing, unknown or wrongly typed key.
    """
    kind = _kind_of(query, attr)
    current = upgraded(query)
    try:
        check_node(current)
    except SourceError as error:
        path = f"{attr}__{error.attr}" if error.attr else attr
        raise Invalid(str(error), code=error.error_code, attr=path) from None
    _check_required(current, kind, attr)
    filled = {
        key: default_of(kind, key) if current.get(key) is None else current[key]
        for key in NODES[kind]
    }
    return dict(sorted(filled.items()))


_INSTEAD = {
    **dict.fromkeys(
        ("InsightVizNode", "DataVisualizationNode", "DataTableNode"),
        " Send the query in its source instead.",
    ),
    "EventsQuery": " Write a HogQLQuery that selects from events.",
    "ActorsQuery": " Write a HogQLQuery that selects from persons.",
}
"""What to send instead of kinds that only the query API runs."""


def _kind_of(query: QueryNode, attr: str) -> str:
    kind = query.get("kind")
    if kind is None:
        raise Invalid(REQUIRED, code="required", attr=f"{attr}__kind")
    if not isinstance(kind, str) or kind not in QUERY_KINDS:
        known = f" Use one of: {', '.join(sorted(QUERY_KINDS))}."
        hint = _INSTEAD.get(str(kind)) or near(str(kind), QUERY_KINDS) or known
        raise Invalid(
            f'"{kind}" is not a kind of query that endpoints support.{hint}',
            code="invalid_choice",
            attr=f"{attr}__kind",
        )
    return kind


def _check_required(query: QueryNode, kind: str, attr: str) -> None:
    for key in _REQUIRED[kind]:
        if query.get(key) is None:
            detail, code = (NULL, "invalid_input") if key in query else (REQUIRED, "required")
            raise Invalid(detail, code=code, attr=f"{attr}__{key}")

"""Rules across several fields of a request body.

Source: docs/spec/query-endpoints.md#3-create-and-update-bodies.
"""

from collections.abc import Sequence

from hoglet.endpoints.analysis.model import Analysis
from hoglet.endpoints.errors import NotMaterializable
from hoglet.endpoints.schemas import CreateBody, UpdateBody
from hoglet.hogql.query_json.nodes import QueryNode
from hoglet.kit.errors import Invalid


def refuse_contradictions(body: CreateBody | UpdateBody, *, is_active: bool) -> None:
    """Reject contradictory fields; ``is_active`` is the state after the request.

    Raises:
        Invalid: attr ``is_materialized`` or ``sync_frequency``.
    """
    if not is_active and body.is_materialized:
        raise Invalid("An inactive endpoint cannot be materialized.", attr="is_materialized")
    if not is_active and body.sync_frequency is not None:
        raise Invalid("An inactive endpoint cannot have a sync frequency.", attr="sync_frequency")
    if body.is_materialized is False and body.sync_frequency is not None:
        raise Invalid(
            "sync_frequency is the interval of materialization, which this request disables.",
            attr="sync_frequency",
        )


def refuse_ineligible(analysis: Analysis) -> None:
    """Reject a query that cannot be materialized.

    Raises:
        NotMaterializable: attr ``is_materialized``, with the reason.
    """
    eligibility = analysis.eligibility
    if not eligibility.can_materialize:
        raise NotMaterializable(
            eligibility.reason or "This query cannot be materialized.", attr="is_materialized"
        )


def check_breakdowns(names: Sequence[str] | None, query: QueryNode, analysis: Analysis) -> None:
    """Reject names that are not breakdowns of the query.

    Raises:
        Invalid: attr ``optional_breakdown_properties``.
    """
    if not names:
        return
    attr = "optional_breakdown_properties"
    if query["kind"] not in ("TrendsQuery", "RetentionQuery"):
        detail = f"{query['kind']} has no optional breakdowns; only Trends and Retention have."
        raise Invalid(detail, attr=attr)
    unknown = [name for name in names if name not in analysis.breakdowns]
    if unknown:
        known = ", ".join(analysis.breakdowns) or "none"
        raise Invalid(
            f"Not a breakdown of the query: {', '.join(unknown)}. Its breakdowns: {known}.",
            attr=attr,
        )

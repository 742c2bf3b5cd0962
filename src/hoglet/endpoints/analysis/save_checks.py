"""Rules over several fields of a body.

Source: docs/spec/query-endpoints.md#3-create-and-update-bodies.
"""

from collections.abc import Sequence
from typing import Any

from hoglet.endpoints.analysis.model import Analysis
from hoglet.endpoints.errors import NotMaterializable
from hoglet.endpoints.schemas import CreateBody, UpdateBody
from hoglet.kit.errors import Invalid

type Json = dict[str, Any]


def refuse_contradictions(body: CreateBody | UpdateBody, *, is_active: bool) -> None:
    """Let a body pass whose fields agree; ``is_active`` is how things will be after it.

    Raises:
        Invalid: attr ``is_materialized`` or ``sync_frequency``.
    """
    if not is_active and body.is_materialized:
        raise Invalid("An inactive endpoint cannot be materialized.", attr="is_materialized")
    if not is_active and body.sync_frequency is not None:
        raise Invalid("An inactive endpoint has no sync frequency.", attr="sync_frequency")
    if body.is_materialized is False and body.sync_frequency is not None:
        raise Invalid(
            "sync_frequency is the interval of materialization, which this request turns off.",
            attr="sync_frequency",
        )


def refuse_ineligible(analysis: Analysis) -> None:
    """Let a query pass that can be kept as a table.

    Raises:
        NotMaterializable: attr ``is_materialized``, with the reason.
    """
    eligibility = analysis.eligibility
    if not eligibility.can_materialize:
        raise NotMaterializable(
            eligibility.reason or "This query cannot be materialized.", attr="is_materialized"
        )


def check_breakdowns(names: Sequence[str] | None, query: Json, analysis: Analysis) -> None:
    """Let names pass that are breakdowns of the query.

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

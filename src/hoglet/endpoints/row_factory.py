"""Creates rows and applies request bodies to them.

Source: docs/spec/query-endpoints.md#3-create-and-update-bodies (effective times) and
docs/spec/query-endpoints.md#4-versions.
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from hoglet.access.principals import ProjectScope
from hoglet.endpoints.analysis.model import Analysis
from hoglet.endpoints.analysis.save_checks import check_breakdowns
from hoglet.endpoints.enums import DEFAULT_FRESHNESS_SECONDS
from hoglet.endpoints.repository import FoundEndpoint
from hoglet.endpoints.schemas import CreateBody, UpdateBody
from hoglet.endpoints.tables import EndpointRow, EndpointVersionRow
from hoglet.hogql.query_json.nodes import QueryNode
from hoglet.kit.clock import new_id


def new_rows(
    scope: ProjectScope, body: CreateBody, query: QueryNode, analysis: Analysis, now: datetime
) -> tuple[EndpointRow, EndpointVersionRow]:
    """A new endpoint with version 1."""
    endpoint = EndpointRow(
        id=new_id(),
        project_id=scope.project.id,
        name=body.name,
        live_name=body.name,
        is_active=body.is_active is not False,
        current_version=1,
        derived_from_insight=body.derived_from_insight,
        tags=sorted_tags(body.tags or []),
        created_by_id=scope.user_id,
        created_at=now,
        updated_at=now,
        last_executed_at=None,
    )
    version = EndpointVersionRow(
        id=new_id(),
        endpoint_id=endpoint.id,
        number=1,
        query=query,
        analysis=msgspec.to_builtins(analysis),
        description=body.description or "",
        is_active=True,
        cache_age_seconds=body.cache_age_seconds,
        data_freshness_seconds=body.data_freshness_seconds or DEFAULT_FRESHNESS_SECONDS,
        sync_frequency=body.sync_frequency,
        bucket_overrides=body.bucket_overrides,
        optional_breakdown_properties=body.optional_breakdown_properties or [],
        created_by_id=scope.user_id,
        created_at=now,
        updated_at=now,
        last_executed_at=None,
    )
    return endpoint, version


def next_version(
    scope: ProjectScope,
    endpoint: FoundEndpoint,
    query: QueryNode,
    analysis: Analysis,
    now: datetime,
) -> EndpointVersionRow:
    """A version with a new query; everything else is copied from the current one."""
    previous = endpoint.version
    return EndpointVersionRow(
        id=new_id(),
        endpoint_id=endpoint.endpoint.id,
        number=endpoint.endpoint.current_version + 1,
        query=query,
        analysis=msgspec.to_builtins(analysis),
        description=previous.description,
        is_active=True,
        cache_age_seconds=previous.cache_age_seconds,
        data_freshness_seconds=previous.data_freshness_seconds,
        sync_frequency=previous.sync_frequency,
        bucket_overrides=previous.bucket_overrides,
        optional_breakdown_properties=[
            name for name in previous.optional_breakdown_properties if name in analysis.breakdowns
        ],
        created_by_id=scope.user_id,
        created_at=now,
        updated_at=now,
        last_executed_at=None,
    )


def active_after(
    current: FoundEndpoint, body: UpdateBody, *, targeted: bool, renewed: bool
) -> bool:
    """Whether endpoint and version will both be active after a request.

    ``renewed``: the request creates a version, which is active.
    """
    sent = body.is_active
    endpoint, version = current.endpoint.is_active, renewed or current.version.is_active
    if sent is not None and targeted:
        version = sent
    elif sent is not None:
        endpoint = sent
    return endpoint and version


def apply_times(version: EndpointVersionRow, body: UpdateBody) -> None:
    """Set the times; data freshness resets those of the two specific ones that are not sent."""
    if body.sent("data_freshness_seconds"):
        version.data_freshness_seconds = body.data_freshness_seconds or DEFAULT_FRESHNESS_SECONDS
        version.cache_age_seconds = version.sync_frequency = None
    if body.sent("cache_age_seconds"):
        version.cache_age_seconds = body.cache_age_seconds
    if body.sent("sync_frequency"):
        version.sync_frequency = body.sync_frequency


def apply_rest(version: EndpointVersionRow, body: UpdateBody) -> None:
    """Set the other fields of a version."""
    if body.description is not None:
        version.description = body.description
    if body.bucket_overrides is not None:
        version.bucket_overrides = body.bucket_overrides
    if body.optional_breakdown_properties is not None:
        names = body.optional_breakdown_properties
        check_breakdowns(names, version.query, msgspec.convert(version.analysis, Analysis))
        version.optional_breakdown_properties = names


def apply_active(
    endpoint: EndpointRow, version: EndpointVersionRow, body: UpdateBody, *, targeted: bool
) -> None:
    """Set the flag of the version if one is addressed, else of the endpoint."""
    if body.is_active is None:
        return
    if targeted:
        version.is_active = body.is_active
    else:
        endpoint.is_active = body.is_active


def sorted_tags(tags: Sequence[str]) -> list[str]:
    """Unique tags, sorted."""
    return sorted(set(tags))

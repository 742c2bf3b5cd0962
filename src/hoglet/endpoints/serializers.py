"""Endpoints in the form of the API.

Source: docs/spec/query-endpoints.md#2-records and
docs/spec/query-endpoints.md#74-status-object-materialization-in-records-row-6.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from hoglet.access.principals import User, user_object
from hoglet.access.schemas import UserObject
from hoglet.endpoints.analysis.model import Analysis
from hoglet.endpoints.enums import SYNC_SECONDS, sync_word
from hoglet.endpoints.repository import FoundEndpoint, Names
from hoglet.endpoints.tables import EndpointVersionRow, MaterializationRow
from hoglet.hogql.materialize.refusal import INVALID
from hoglet.kit.clock import iso_z, iso_z_or_none

type Json = dict[str, Any]

COMPLETED = "Completed"


class EndpointUrls(msgspec.Struct, frozen=True):
    """The base URL and prefix of the request: ``EndpointUrls("https://h", "environments", 7)``."""

    site_url: str
    prefix: str
    project_id: int

    def run_path(self, name: str) -> str:
        """``/api/environments/7/endpoints/daily_views/run``."""
        return f"/api/{self.prefix}/{self.project_id}/endpoints/{name}/run"

    def run_url(self, name: str) -> str:
        """The run path with the site's URL."""
        return self.site_url + self.run_path(name)

    def console_url(self, name: str) -> str:
        """URL in the console."""
        return f"{self.site_url}/project/{self.project_id}/endpoints/{name}"


def interval_seconds(version: EndpointVersionRow) -> int:
    """How often a materialized version is built."""
    if version.sync_frequency is not None:
        return SYNC_SECONDS[version.sync_frequency]
    return version.data_freshness_seconds


def endpoint_record(
    endpoint_rows: FoundEndpoint,
    users: Mapping[int, User],
    urls: EndpointUrls,
    aliases: Names | None = None,
) -> Json:
    """The record of an endpoint with its current version.

    ``aliases`` is only present if there are any; otherwise a record has exactly the specified keys.
    """
    endpoint, version = endpoint_rows.endpoint, endpoint_rows.version
    record = {
        "id": str(endpoint.id),
        "name": endpoint.name,
        "description": version.description,
        "query": version.query,
        "is_active": endpoint.is_active,
        "cache_age_seconds": version.cache_age_seconds,
        "data_freshness_seconds": version.data_freshness_seconds,
        "sync_frequency": version.sync_frequency,
        "endpoint_path": urls.run_path(endpoint.name),
        "url": urls.run_url(endpoint.name),
        "ui_url": urls.console_url(endpoint.name),
        "created_at": iso_z(endpoint.created_at),
        "updated_at": iso_z(endpoint.updated_at),
        "created_by": _user(endpoint.created_by_id, users),
        "is_materialized": endpoint_rows.materialization is not None,
        "current_version": endpoint.current_version,
        "current_version_id": str(version.id),
        "versions_count": endpoint.current_version,
        "derived_from_insight": endpoint.derived_from_insight,
        "last_executed_at": iso_z_or_none(endpoint.last_executed_at),
        "materialization": status_object(version, endpoint_rows.materialization),
        "bucket_overrides": version.bucket_overrides,
        "columns": msgspec.convert(version.analysis, Analysis).columns,
        "tags": sorted(endpoint.tags),
        "optional_breakdown_properties": version.optional_breakdown_properties,
    }
    return record | {"aliases": dict(aliases)} if aliases else record


def version_record(
    endpoint_rows: FoundEndpoint,
    current: EndpointVersionRow,
    users: Mapping[int, User],
    urls: EndpointUrls,
    aliases: Names | None = None,
) -> Json:
    """The record with the values of one version; ``current`` is the newest one."""
    endpoint, version = endpoint_rows.endpoint, endpoint_rows.version
    return endpoint_record(endpoint_rows, users, urls, aliases) | {
        "is_active": version.is_active,
        "url": None,
        "ui_url": None,
        "current_version_id": str(current.id),
        "last_executed_at": iso_z_or_none(version.last_executed_at),
        "version": version.number,
        "version_id": str(version.id),
        "endpoint_is_active": endpoint.is_active,
        "version_created_at": iso_z(version.created_at),
        "version_updated_at": iso_z(version.updated_at),
        "version_created_by": _user(version.created_by_id, users),
    }


def is_invalid(version: EndpointVersionRow) -> bool:
    """Whether the query could not run when it was saved."""
    return msgspec.convert(version.analysis, Analysis).eligibility.reason_code == INVALID


def status_object(version: EndpointVersionRow, row: MaterializationRow | None) -> Json:
    """The ``materialization`` of a record."""
    if row is None:
        eligibility = msgspec.convert(version.analysis, Analysis).eligibility
        return {
            "can_materialize": eligibility.can_materialize,
            "reason": eligibility.reason,
            "reason_code": eligibility.reason_code,
            "enabled": False,
            "ready": False,
        }
    built = row.last_built_at
    stale = {} if row.stale_reason is None else {"stale_reason": row.stale_reason}
    return stale | {
        "status": row.status,
        "can_materialize": True,
        "last_materialized_at": None if built is None else built.isoformat(),
        "error": "" if row.status == COMPLETED else row.error,
        "sync_frequency": sync_word(interval_seconds(version)),
        "saved_query_id": str(row.saved_query_id),
        "enabled": True,
        "ready": row.table_name is not None,
    }


def _user(user_id: int | None, users: Mapping[int, User]) -> UserObject | None:
    return None if user_id is None else user_object(users.get(user_id))

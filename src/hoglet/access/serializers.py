"""Projects, organizations, users and keys as JSON objects of the API.

Source: docs/spec/hog-functions.md#15-bootstrap-routes; extra keys may follow the specified ones.
"""

from collections.abc import Iterable

from hoglet.access.api_keys.schemas import KeyObject, SecretKeyObject
from hoglet.access.principals import ANY_SCOPE, Level, Project, User, user_object
from hoglet.access.schemas import (
    GroupType,
    MeObject,
    OrganizationObject,
    ProjectObject,
    TeamObject,
)
from hoglet.access.tables import OrganizationRow, PersonalKeyRow, SecretKeyRow
from hoglet.kit.clock import iso_z, iso_z_or_none

_ADMIN_ACCESS = 9  # plugins_access_level: may install and configure


def team_object(project: Project) -> TeamObject:
    """``<team>``: a project in lists."""
    return {
        "id": project.id,
        "uuid": str(project.uuid),
        "organization": str(project.organization_id),
        "api_token": project.api_token,
        "name": project.name,
        "timezone": project.timezone,
        "is_demo": project.is_demo,
        "ingested_event": project.ingested_event,
        "completed_snippet_onboarding": True,
        "access_control": False,
    }


def project_object(project: Project, group_types: list[GroupType]) -> ProjectObject:
    """One project in full."""
    return {
        **team_object(project),
        "created_at": iso_z(project.created_at),
        "updated_at": iso_z(project.updated_at),
        "app_urls": project.app_urls,
        "test_account_filters": project.test_account_filters,
        "person_display_name_properties": project.person_display_name_properties,
        "anonymize_ips": project.anonymize_ips,
        "week_start_day": project.week_start_day,
        "group_types": group_types,
    }


def organization_object(
    organization: OrganizationRow,
    *,
    level: int,
    members: int,
    projects: Iterable[Project],
) -> OrganizationObject:
    """One organization in full; ``projects`` are those that the caller can access."""
    reached = list(projects)
    return {
        "id": str(organization.id),
        "name": organization.name,
        "slug": organization.slug,
        "created_at": iso_z(organization.created_at),
        "updated_at": iso_z(organization.updated_at),
        "membership_level": level,
        "plugins_access_level": _ADMIN_ACCESS if level >= Level.ADMIN else 0,
        "member_count": members,
        "available_product_features": [],
        "metadata": {},
        "teams": [team_object(project) for project in reached],
        "projects": [
            {
                "id": project.id,
                "organization_id": str(project.organization_id),
                "name": project.name,
            }
            for project in reached
        ],
    }


def me_object(
    user: User,
    team: Project | None,
    organization: OrganizationObject | None,
    memberships: Iterable[tuple[OrganizationRow, int]],
) -> MeObject:
    """The caller's user."""
    return {
        "id": user.id,
        "uuid": str(user.uuid),
        "distinct_id": user.distinct_id,
        "first_name": user.first_name,
        "last_name": user.last_name,
        "email": user.email,
        "is_email_verified": user.is_email_verified,
        "is_staff": user.is_staff,
        "date_joined": iso_z(user.date_joined),
        "has_password": False,
        "hedgehog_config": user.hedgehog_config,
        "role_at_organization": None,
        "theme_mode": user.theme_mode,
        "team": None if team is None else team_object(team),
        "organization": organization,
        "organizations": [
            {"id": str(row.id), "name": row.name, "slug": row.slug, "membership_level": level}
            for row, level in memberships
        ],
    }


def key_object(row: PersonalKeyRow, value: str | None = None) -> KeyObject:
    """A personal key; ``value`` only right after it was created or rolled."""
    return {
        "id": row.id,
        "label": row.label,
        "value": value,
        "mask_value": row.mask_value,
        "created_at": iso_z(row.created_at),
        "last_used_at": iso_z_or_none(row.last_used_at),
        "last_rolled_at": iso_z_or_none(row.last_rolled_at),
        "user_id": row.user_id,
        "scopes": row.scopes or [ANY_SCOPE],
        "scoped_teams": row.scoped_teams,
        "scoped_organizations": row.scoped_organizations,
    }


def secret_key_object(row: SecretKeyRow, user: User | None, value: str | None) -> SecretKeyObject:
    """A project secret key; ``value`` only right after it was created or rolled."""
    return {
        "id": row.id,
        "label": row.label,
        "value": value,
        "mask_value": row.mask_value,
        "created_at": iso_z(row.created_at),
        "created_by": user_object(user),
        "last_used_at": iso_z_or_none(row.last_used_at),
        "last_rolled_at": iso_z_or_none(row.last_rolled_at),
        "scopes": row.scopes,
    }

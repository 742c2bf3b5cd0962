"""Bodies and responses of the routes of tenant tokens."""

from typing import Annotated, Any

from pydantic import Field

from hoglet.access.tables import SigningKeyRow
from hoglet.access.tenant_tokens.codec import MAX_ENDPOINTS, MAX_TOKEN_SECONDS
from hoglet.kit.clock import iso_z, iso_z_or_none
from hoglet.web.openapi import DocumentedResponse
from hoglet.web.validation import Body, Text, Whole


class TenantTokenBody(Body, extra="forbid"):
    """A token to create. Unknown keys are refused: a misspelt ``variables`` would fix nothing."""

    endpoints: Annotated[list[Text], Field(min_length=1, max_length=MAX_ENDPOINTS)]
    variables: dict[str, Any] = Field(default_factory=dict[str, Any])
    expires_in: Whole = Field(default=3600, ge=1, le=MAX_TOKEN_SECONDS, description="Seconds.")


class RotateBody(Body, extra="forbid"):
    """How long tokens of earlier keys are still accepted."""

    grace_seconds: Whole = Field(default=0, ge=0, le=MAX_TOKEN_SECONDS)


class TenantToken(DocumentedResponse):
    """A created token."""

    token: str
    expires_at: str


class SigningKeyObject(DocumentedResponse):
    """A signing key; ``expires_at`` is set while a replaced one is within its grace time."""

    id: str
    created_at: str
    expires_at: str | None


class NewSigningKey(SigningKeyObject):
    """A created signing key with its secret, which is not shown again."""

    secret: str


def signing_key_object(row: SigningKeyRow) -> dict[str, Any]:
    """A ``SigningKeyObject``."""
    return {
        "id": row.id,
        "created_at": iso_z(row.created_at),
        "expires_at": iso_z_or_none(row.expires_at),
    }

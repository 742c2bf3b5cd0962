"""Request bodies of integrations.

Source: docs/spec/hog-functions.md#12-errors-keys-rate-limits and
docs/spec/hog-functions.md#132-globals-and-inputs.
"""

import re
from typing import Annotated, Any, TypedDict, cast

from pydantic import AfterValidator, Field

from hoglet.access.schemas import UserObject
from hoglet.kit.errors import Invalid
from hoglet.kit.json import JsonObject, is_array, is_object
from hoglet.web.openapi import documented
from hoglet.web.validation import REQUIRED, Body, Text, validate

MASK = "********"
MAX_TOKEN_CHARACTERS = 10_000
MAX_HOSTS = 50
_KIND = re.compile(r"[a-z0-9][a-z0-9_-]*")
_HOST = re.compile(r"(\*\.)?[A-Za-z0-9_.:\[\]-]{1,253}")
_CREDENTIAL = re.compile(
    r"(?i)(^|[_-])(token|secret|password|passwd|api[_-]?key|private[_-]?key|credentials?)$"
)


def _check_kind(kind: str) -> str:
    if not _KIND.fullmatch(kind):
        raise ValueError("A kind consists of lower-case letters, digits, hyphens and underscores.")
    return kind


def _check_token(token: str) -> str:
    if not token.isprintable():
        raise ValueError("A token must be one line of printable characters.")
    return token


def _check_hosts(hosts: list[str] | None) -> list[str] | None:
    for host in hosts or []:
        if not _HOST.fullmatch(host):
            raise ValueError(f'"{host}" is not a host name; use "*.example.com" for subdomains.')
    return hosts


class IntegrationFields(Body):
    """The fields of a new integration; an update takes any of them except ``kind``."""

    kind: Annotated[Text, AfterValidator(_check_kind)] = Field(min_length=1, max_length=40)
    display_name: Text | None = Field(default=None, max_length=400)
    config: JsonObject = Field(default_factory=dict)
    hosts: Annotated[list[Text] | None, AfterValidator(_check_hosts)] = Field(
        default=None, max_length=MAX_HOSTS
    )
    access_token: Annotated[Text, AfterValidator(_check_token)] | None = Field(
        default=None, min_length=1, max_length=MAX_TOKEN_CHARACTERS
    )


class SentIntegration(TypedDict, total=False):
    """The fields of an integration that an update sent; ``access_token`` only if it is new."""

    display_name: str | None
    config: JsonObject
    hosts: list[str] | None
    access_token: str


def read_create(body: JsonObject) -> IntegrationFields:
    """Parse a new integration.

    Raises:
        Invalid: the first error.
    """
    fields = validate(IntegrationFields, body)
    _refuse_credentials(fields.config)
    if fields.access_token is None:
        raise Invalid(REQUIRED, code="required", attr="access_token")
    if fields.access_token == MASK:
        raise Invalid("Please enter the token again.", attr="access_token")
    return fields


def read_update(body: JsonObject, kind: str) -> SentIntegration:
    """Parse an update; a token that is omitted, null or masked is kept.

    Raises:
        Invalid: the first error, including a changed kind.
    """
    fields = validate(IntegrationFields, {"kind": kind, **body})
    _refuse_credentials(fields.config)
    if fields.kind != kind:
        raise Invalid("The kind of an integration cannot be changed.", attr="kind")
    sent = {name: getattr(fields, name) for name in fields.model_fields_set - {"kind"}}
    if sent.get("access_token") in (None, MASK):
        sent.pop("access_token", None)
    return cast("SentIntegration", sent)


def without_credentials(config: Any) -> Any:
    """A config without keys that look like credentials, at any depth."""
    if is_object(config):
        return {
            key: without_credentials(value)
            for key, value in config.items()
            if not _CREDENTIAL.search(key)
        }
    return [without_credentials(each) for each in config] if is_array(config) else config


def _refuse_credentials(config: JsonObject) -> None:
    """Reject credentials in the config, which is visible to everyone with read access."""
    for key in config:
        if _CREDENTIAL.search(key):
            raise Invalid(
                "The config is part of responses. Send the credential as access_token instead.",
                attr=f"config__{key}",
            )


@documented
class IntegrationObject(TypedDict):
    """A stored credential, without its token."""

    id: int
    kind: str
    display_name: str
    icon_url: str | None
    config: JsonObject
    hosts: list[str] | None
    created_at: str
    updated_at: str
    created_by: UserObject | None
    errors: str

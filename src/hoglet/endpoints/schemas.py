"""Request bodies; unknown keys are errors.

Source: docs/spec/query-endpoints.md#3-create-and-update-bodies,
docs/spec/query-endpoints.md#51-request, docs/spec/query-endpoints.md#76-preview and
docs/spec/query-endpoints.md#9-last_execution_times.
"""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr

from hoglet.endpoints.enums import (
    BUCKETS,
    CACHE_AGE_SECONDS,
    FRESHNESS_SECONDS,
    INSIGHT_ID_CHARACTERS,
    RefreshWord,
    SyncWord,
    is_name,
)
from hoglet.endpoints.versions.aliases import is_alias
from hoglet.kit.errors import Invalid
from hoglet.web.validation import Text, validate

_RESETTABLE = frozenset({"cache_age_seconds", "data_freshness_seconds", "sync_frequency"})
_OWN_CODES = frozenset({"required", "invalid_choice", "max_length"})


def _name(text: str) -> str:
    if not is_name(text):
        raise ValueError(
            "A name starts with a letter and has at most 128 letters, digits, hyphens "
            "and underscores; some names are reserved."
        )
    return text


def _cache_age(seconds: int) -> int:
    least, most = CACHE_AGE_SECONDS
    if not least <= seconds <= most:
        raise ValueError(f"The cache time must be between {least} and {most} seconds.")
    return seconds


def _freshness(seconds: int) -> int:
    if seconds not in FRESHNESS_SECONDS:
        listed = ", ".join(map(str, FRESHNESS_SECONDS))
        raise ValueError(f"The data freshness must be one of: {listed}.")
    return seconds


def _buckets(overrides: dict[str, Any]) -> dict[str, Any]:
    for column, bucket in overrides.items():
        if bucket not in BUCKETS:
            listed = ", ".join(BUCKETS)
            raise ValueError(f'"{bucket}" (for {column}) is not a bucket. Use one of: {listed}.')
    return overrides


type EndpointName = Annotated[StrictStr, AfterValidator(_name)]
type CacheAge = Annotated[StrictInt, AfterValidator(_cache_age)]
type Freshness = Annotated[StrictInt, AfterValidator(_freshness)]
type Buckets = Annotated[dict[str, Any], AfterValidator(_buckets)]


def _version(value: Any) -> int | str:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and is_alias(value):
        return value
    raise ValueError("A version is an integer or the name of an alias.")


type Version = Annotated[Any, AfterValidator(_version)]
type PlainText = Annotated[Text, Field(strict=True)]


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)


class _Settable(_Closed):
    """Fields shared by create and update."""

    description: PlainText | None = None
    is_active: StrictBool | None = None
    cache_age_seconds: CacheAge | None = None
    data_freshness_seconds: Freshness | None = None
    sync_frequency: SyncWord | None = None
    is_materialized: StrictBool | None = None
    bucket_overrides: Buckets | None = None
    tags: list[PlainText] | None = None
    optional_breakdown_properties: list[PlainText] | None = None
    derived_from_insight: Annotated[PlainText, Field(max_length=INSIGHT_ID_CHARACTERS)] | None = (
        None
    )

    def sent(self, name: str) -> bool:
        """Whether the field was in the body (null counts only where it has a meaning)."""
        return name in self.model_fields_set


class CreateBody(_Settable):
    """Body of ``POST E``."""

    name: EndpointName
    query: dict[str, Any]


class UpdateBody(_Settable):
    """Body of ``PATCH E/:name``; a name and ``derived_from_insight`` are ignored."""

    name: Any = None
    query: dict[str, Any] | None = None
    deleted: StrictBool | None = None
    version: Version = None


class PreviewBody(_Closed):
    """Body of ``POST E/:name/materialization_preview``."""

    version: Version = None
    bucket_overrides: Buckets | None = None


class AliasBody(_Closed):
    """Body of ``PUT E/:name/aliases/:alias``."""

    version: Version


class NamesBody(_Closed):
    """Body of ``POST E/last_execution_times``."""

    names: list[StrictStr]


class RunBody(_Closed):
    """Body of a run; ``limit`` and ``offset`` can also be in the query string."""

    variables: dict[str, Any] | None = None
    version: Version = None
    refresh: RefreshWord = "blocking"
    debug: StrictBool = False
    client_query_id: Annotated[PlainText, Field(min_length=1, max_length=200)] | None = None
    filters_override: dict[str, Any] | None = None
    query_override: dict[str, Any] | None = None
    limit: Annotated[StrictInt, Field(ge=1, le=50_000)] | None = None
    offset: Annotated[StrictInt, Field(ge=0, le=2**53)] | None = None
    cursor: Annotated[PlainText, Field(min_length=1, max_length=20_000)] | None = None


class RunRequest(msgspec.Struct, frozen=True):
    """A parsed run, from body and query string.

    ``after`` is the decrypted ``cursor``: the sort values of the row before the page.
    ``system_tables`` are those allowed by the caller's scopes, e.g. ``("system.actions",)``.
    """

    variables: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    version: int | None = None
    refresh: str = "blocking"
    debug: bool = False
    client_query_id: str | None = None
    filters_override: dict[str, Any] | None = None
    query_override: dict[str, Any] | None = None
    limit: int | None = None
    offset: int | None = None
    cursor: str | None = None
    after: list[Any] | None = None
    system_tables: tuple[str, ...] = ()


def read_create(data: Mapping[str, Any]) -> CreateBody:
    """Parse the body of a new endpoint."""
    return read(CreateBody, data)


def read[M: BaseModel](model: type[M], data: Mapping[str, Any]) -> M:
    """Parse a body; null means "not sent", except where it resets a time.

    Raises:
        Invalid: the first invalid field; generic codes become ``invalid_input``.
    """
    sent = {key: value for key, value in data.items() if value is not None or key in _RESETTABLE}
    try:
        return validate(model, sent)
    except Invalid as error:
        if error.error_code not in _OWN_CODES or _is_inner_length(error):
            error.error_code = "invalid_input"
        raise


def _is_inner_length(error: Invalid) -> bool:
    return error.error_code == "max_length" and error.attr != "derived_from_insight"

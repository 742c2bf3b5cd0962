"""Schemas of query requests; unknown keys are errors.

Source: docs/spec/data-and-queries.md#12-body.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictStr

from hoglet.kit.errors import Invalid, Unreadable
from hoglet.web.openapi import DocumentedResponse, OpenResponse, text
from hoglet.web.validation import REQUIRED, Text, validate

type QueryRefreshWord = Literal[
    "blocking",
    "async",
    "lazy_async",
    "force_blocking",
    "force_async",
    "force_cache",
    "async_except_on_cache_miss",
]
BACKGROUND_WORDS = frozenset({"async", "lazy_async", "force_async"})
_OLDER_WORDS = {True: "force_blocking", False: "blocking"}
_OWN_CODES = frozenset({"required", "invalid_choice", "max_length"})
_UNSUPPORTED = ("connectionId", "sendRawQuery")


def _word(value: Any) -> Any:
    return _OLDER_WORDS[value] if isinstance(value, bool) else value


class FiltersOverride(BaseModel):
    """Filter overrides: dates and interval replace, properties are combined with AND."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    date_from: StrictStr | None = None
    date_to: StrictStr | None = None
    explicitDate: StrictBool | None = None  # noqa: N815 (the name on the wire)
    properties: list[Any] | dict[str, Any] | None = None
    breakdown_filter: dict[str, Any] | None = None
    filterTestAccounts: StrictBool | None = None  # noqa: N815 (the name on the wire)
    interval: (
        Literal["second", "minute", "hour", "day", "week", "month", "quarter", "year"] | None
    ) = None


class VariableOverride(BaseModel):
    """An entry of ``variables_override``; replaces the entry with the same id."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    variableId: StrictStr | None = None  # noqa: N815 (the name on the wire)
    code_name: StrictStr | None = None
    value: Any = None
    isNull: StrictBool | None = None  # noqa: N815 (the name on the wire)


class QueryBody(BaseModel):
    """Body of ``POST query``; ``query`` is validated by its kind."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True, defer_build=True)

    query: Any = None
    refresh: Annotated[QueryRefreshWord | None, BeforeValidator(_word)] = None
    is_async: StrictBool | None = Field(default=None, alias="async")
    client_query_id: Annotated[Text, Field(strict=True, min_length=1, max_length=128)] | None = None
    filters_override: FiltersOverride | None = None
    variables_override: dict[str, VariableOverride] | None = None
    name: Annotated[Text, Field(strict=True, max_length=128)] | None = None
    limit_context: Literal["posthog_ai"] | None = None

    @property
    def word(self) -> str:
        """The effective refresh mode: ``refresh``, else the legacy ``async``."""
        return self.refresh or ("async" if self.is_async else "blocking")


class UpgradeBody(BaseModel):
    """Body of ``POST query/upgrade``."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    query: Any = None


def read_body_fields[M: (QueryBody, UpgradeBody)](model: type[M], data: Mapping[str, Any]) -> M:
    """Parse a body.

    Raises:
        Invalid: a key or word of the body; attr is the key.
        Unreadable: ``query`` is missing; attr ``query``.
    """
    for name in _UNSUPPORTED:
        if name in data:
            raise Unreadable("Warehouse connections are not supported.", attr=name)
    sent = {key: value for key, value in data.items() if value is not None}
    try:
        body = validate(model, sent)
    except Invalid as error:
        if error.error_code not in _OWN_CODES:
            error.error_code = "invalid_input"
        raise
    if body.query is None:
        raise Unreadable(REQUIRED, attr="query")
    return body


class QueryAnswer(OpenResponse):
    """The response of a query; its keys depend on its kind.

    Runs have ``results``, schemas ``tables``, metadata ``isValid``, completions ``suggestions``.
    """

    results: list[Any] | dict[str, Any] | None = None
    timings: list[Any] | None = None


class RunStatus(OpenResponse):
    """The state of a background query."""

    id: str
    query_async: bool
    team_id: int
    complete: bool
    error: bool
    error_message: str | None
    error_code: str | None
    start_time: str
    expiration_time: str


class RunStatusAnswer(DocumentedResponse):
    """A background query; includes ``results`` once it is done."""

    query_status: RunStatus


class Cancelled(DocumentedResponse):
    """A query that is no longer running."""

    message: str


class Upgraded(DocumentedResponse):
    """A converted query."""

    query: dict[str, Any]


class Allowed(DocumentedResponse):
    """The key may run queries."""

    user: str


VALUE_QUERY = (text("key", "Name of the property."), text("value", "Part of the value."))
FILTER_QUERY = (text("distinct_id"), text("properties", "JSON list of property filters."))

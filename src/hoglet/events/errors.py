"""Errors of capture (docs/spec/hog-functions.md#14-capture)."""

from hoglet.kit.errors import HogletError, Invalid, Unauthenticated


class InvalidPayload(Invalid):
    """The body is invalid or empty, or a field is too long."""

    code = "invalid_payload"


class MissingEventName(Invalid):
    """An event without ``event``."""

    code = "missing_event_name"


class MissingDistinctId(Invalid):
    """An event without ``distinct_id``."""

    code = "missing_distinct_id"


class MissingApiKey(Unauthenticated):
    """The request has no project token."""

    code = "missing_api_key"


class InvalidApiKey(Unauthenticated):
    """The token does not belong to a project."""

    code = "invalid_api_key"


class StateChanged(HogletError):
    """Another group of the project changed the same persons or groups; process this one again."""

    code = "state_changed"
    retry = "later"

"""The arguments and results of ``fetch(url, options)``, and the retry policy.

The pipeline sends the request; nothing here does I/O.

Source: docs/spec/hog-functions.md#133-functions and
docs/spec/hog-functions.md#134-retries-hoglet-goes-further.
"""

import re
from collections.abc import Callable
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypedDict

import msgspec

from hoglet.functions.executable.model import RetryPolicy
from hoglet.hog.bind.diagnostics import suggestion
from hoglet.kit.backoff import Backoff
from hoglet.kit.json import JsonObject, dump_json, is_object, parse_json
from hoglet.outbound.aws_sigv4 import AwsSigV4

RETRIED_STATUSES = frozenset({408, 429, 500, 502, 503, 504})
METHODS_WITHOUT_BODY = frozenset({"GET", "HEAD"})
DELIVERY_HEADER = "X-Hoglet-Delivery"
ATTEMPT_HEADER = "X-Hoglet-Attempt"
USER_AGENT = "hoglet"
OPTIONS = ("method", "headers", "body", "aws_sigv4")
_SIGNER_KEYS = ("access_key_id", "secret_access_key", "session_token", "region", "service")
_SIGNER_INPUTS = {
    f"{name}_input": name for name in ("access_key_id", "secret_access_key", "session_token")
}
"""Options that name the input with the credential, so that the program need not read it."""
_SIGNER_TEXT = re.compile(r"[!-~]+")
_MAX_WAIT_SECONDS = 1e9  # the maximum of Retry-After


class FetchRequest(msgspec.Struct, frozen=True, kw_only=True):
    """An outgoing request, as the program requested it; ``body`` is a string or None.

    With ``aws_sigv4`` it is signed when sent.
    """

    url: str
    method: str = "POST"
    headers: dict[str, str] = {}
    body: str | None = None
    aws_sigv4: AwsSigV4 | None = None


class FetchRefused(ValueError):
    """The arguments are not a valid request; the run fails with this error."""


def read_fetch(arguments: list[Any], inputs: JsonObject | None = None) -> FetchRequest:
    """Normalize the arguments of ``fetch``.

    Args:
        arguments: ``["https://host/path", {"method": "POST", "headers": {...}, "body": {...},
            "aws_sigv4": {"access_key_id", "secret_access_key", "session_token"?, "region",
            "service"}}]``; ``"access_key_id_input": "key"`` stands for the value of that input.
        inputs: the values of the function's inputs, by key.

    Raises:
        FetchRefused: no URL, or incomplete ``aws_sigv4``. A URL that is not http or https fails
            when it is sent, as a fetch failure.
    """
    url = arguments[0] if arguments else None
    if not isinstance(url, str) or not url.strip():
        raise FetchRefused("fetch needs a URL as its first argument")
    options = arguments[1] if len(arguments) > 1 and is_object(arguments[1]) else {}
    method = str(options.get("method") or "POST").upper()
    headers = options.get("headers")
    sent_headers = {"Content-Type": "application/json"}
    if is_object(headers) and headers:
        sent_headers = {str(name): text for name, text in headers.items() if isinstance(text, str)}
    body = None if method in METHODS_WITHOUT_BODY else _body(options.get("body"))
    return FetchRequest(
        url=url,
        method=method,
        headers=sent_headers,
        body=body,
        aws_sigv4=_read_signer(options.get("aws_sigv4"), inputs or {}),
    )


def ignored_options(arguments: list[Any]) -> list[str]:
    """One sentence for each option and header that ``fetch`` ignores; null leaves a header out."""
    options = arguments[1] if len(arguments) > 1 else None
    if options is None:
        return []
    if not is_object(options):
        return ["fetch ignores its second argument: it must be an object"]
    ignored = [
        " ".join(filter(None, (f"fetch ignores the option {name}.", suggestion(name, OPTIONS))))
        for name in map(str, options)
        if name not in OPTIONS
    ]
    return ignored + _ignored_headers(options.get("headers"))


def _ignored_headers(headers: Any) -> list[str]:
    if headers is None:
        return []
    if not is_object(headers):
        return ["fetch ignores the option headers: it must be an object"]
    return [
        f"fetch ignores the header {name}: its value is not a string. Use toString()."
        for name, value in headers.items()
        if value is not None and not isinstance(value, str)
    ]


def _read_signer(value: Any, inputs: JsonObject) -> AwsSigV4 | None:
    if value is None:
        return None
    if not is_object(value):
        raise FetchRefused("aws_sigv4 must be an object")
    for name in map(str, value):
        if name not in _SIGNER_KEYS and name not in _SIGNER_INPUTS:
            hint = suggestion(name, _SIGNER_KEYS) or f"Known options: {', '.join(_SIGNER_KEYS)}."
            raise FetchRefused(f"aws_sigv4 has no option {name}. {hint}")
    given: JsonObject = {name: value.get(name) for name in _SIGNER_KEYS}
    given |= {
        name: _value_of_input(option, value[option], inputs)
        for option, name in _SIGNER_INPUTS.items()
        if value.get(option) is not None
    }
    for name, text in given.items():
        is_left_out = name == "session_token" and not text
        if not is_left_out and (not isinstance(text, str) or not _SIGNER_TEXT.fullmatch(text)):
            raise FetchRefused(f"aws_sigv4 needs {name}, a string without spaces")
    given["session_token"] = given["session_token"] or None
    return AwsSigV4(**given)


def _value_of_input(option: str, key: Any, inputs: JsonObject) -> Any:
    if not isinstance(key, str) or key not in inputs:
        raise FetchRefused(f"aws_sigv4 needs the key of an input as {option}")
    return inputs[key]


def with_delivery_headers(
    request: FetchRequest, *, invocation_id: str, attempt: int
) -> FetchRequest:
    """The request with hoglet's headers, unless the program sets them itself."""
    present = {name.lower() for name in request.headers}
    own = {
        DELIVERY_HEADER: invocation_id,
        ATTEMPT_HEADER: str(attempt),
        "User-Agent": USER_AGENT,
    }
    added = {name: value for name, value in own.items() if name.lower() not in present}
    return msgspec.structs.replace(request, headers={**request.headers, **added})


class FetchResponse(TypedDict):
    """The result of ``fetch``; ``body`` is parsed JSON, or text."""

    status: int
    body: Any


def shape_response(status: int, body: str | bytes) -> FetchResponse:
    """The result of ``fetch`` for a response."""
    text = body.decode("utf-8-sig", "replace") if isinstance(body, bytes) else body
    try:
        parsed: Any = parse_json(text)
    except ValueError:
        parsed = text
    return {"status": status, "body": parsed}


def shape_failure(name: str, message: str) -> FetchResponse:
    """The result of ``fetch`` without a response: status 500 and a text, as in PostHog."""
    return {"status": 500, "body": f"{name}: {message}"}


def is_retried(status: int | None) -> bool:
    """Whether a retry can help; ``None`` is a network error."""
    return status is None or status in RETRIED_STATUSES


def is_tolerated(status: int, codes: list[Any]) -> bool:
    """Whether an input of type ``non_failure_status_codes`` contains this status."""
    return status in codes or f"{status // 100}xx" in codes


def retry_delay_seconds(policy: RetryPolicy, attempt: int, random: Callable[[], float]) -> float:
    """Seconds to wait after attempt ``attempt`` (from 1); ``random`` returns 0..1."""
    backoff = Backoff(
        first=policy.initial_delay_seconds,
        longest=policy.max_delay_seconds,
        factor=policy.multiplier,
    )
    return backoff.seconds(attempt - 1) * (0.5 + 0.5 * random())


def retry_after_seconds(header: str | None, now: datetime) -> float | None:
    """``Retry-After`` as seconds from ``now``, never negative; None if missing or invalid."""
    if not header:
        return None
    text = header.strip()
    if text.isdecimal():
        return min(float(text), _MAX_WAIT_SECONDS)
    try:
        wait = (parsedate_to_datetime(text) - now).total_seconds()
        return min(max(0.0, wait), _MAX_WAIT_SECONDS)
    except (OverflowError, TypeError, ValueError):
        return None


def _body(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return dump_json(value).decode()

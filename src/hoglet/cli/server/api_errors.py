"""API errors as sentences that say what to change."""

import json
import re
from http import HTTPStatus
from urllib.error import HTTPError
from urllib.parse import unquote

from hoglet.kit.errors import HogletError

_REDIRECTS = range(300, 400)
_NOT_FOUND = "Not found."
_NAMED = re.compile(r"/(?P<folder>tenant_tokens/keys|[a-z_]+)/(?P<name>[^/?]+)")
_PART = re.compile(r"/\w+/[^/]+/(?P<folder>backfills|dead_letters)/(?!redrive)(?P<name>[^/?]+)")
_NOUNS = {
    "backfills": ("backfill", "hoglet functions backfill list"),
    "cohorts": ("cohort", "hoglet cohorts list"),
    "dead_letters": ("dead letter", "hoglet functions dead-letters list"),
    "endpoints": ("endpoint", "hoglet endpoints list"),
    "hog_functions": ("function", "hoglet functions list"),
    "integrations": ("integration", "hoglet integrations list"),
    "tenant_tokens/keys": ("signing key", "hoglet tokens keys"),
}


class ApiRefused(HogletError):
    """The server responded with an error; ``field`` is the invalid field, if any.

    ``retry_after``: seconds to wait before the next request, if the server throttled this one.
    """

    code = "api_refused"
    blame = "operator"

    def __init__(
        self,
        detail: str,
        *,
        status: int,
        field: str | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.field = field
        self.retry_after = retry_after

    @property
    def names_nothing(self) -> bool:
        """Whether the error is a generic 404, which does not say what is missing."""
        return self.status == HTTPStatus.NOT_FOUND and self.detail.endswith(f": {_NOT_FOUND}")


class NoProject(HogletError):
    """The key has no access to a project with this id."""

    code = "bad_usage"
    blame = "operator"


def read_refusal(error: HTTPError, url: str) -> ApiRefused:
    """Parse an error response into status, field and detail.

    Args:
        error: the error response; its body is read.
        url: the URL of the server, for the advice in the message.
    """
    text = error.read().decode(errors="replace")
    target = error.headers.get("Location")
    if target and error.code in _REDIRECTS:
        return ApiRefused(f"The server redirects to {target}: use that URL.", status=error.code)
    retry_after = error.headers.get("Retry-After", "")
    seconds = int(retry_after) if retry_after.isdecimal() else 1
    wait = max(seconds, 1) if error.code == HTTPStatus.TOO_MANY_REQUESTS else None
    try:
        problem = json.loads(text)
        field = problem.get("attr")
        about = f"{field}: " if field else ""
        detail = f"{error.code} {problem['code']}: {about}{problem['detail']}"
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        detail = f"{error.code}: {text[:500] or error.reason}"
        return ApiRefused(detail, status=error.code, retry_after=wait)
    if error.code == HTTPStatus.UNAUTHORIZED:
        detail += f" Give another key with --key, or hoglet login --url {url}."
    return ApiRefused(detail, status=error.code, field=field, retry_after=wait)


def name_missing(refusal: ApiRefused, path: str) -> ApiRefused:
    """The error, naming the missing object according to the request's path.

    Example:
        >>> name_missing(ApiRefused("404 not_found: Not found.", status=404), "/cohorts/9/").detail
        '404 not_found: There is no cohort 9. See hoglet cohorts list.'
    """
    if not refusal.names_nothing:
        return refusal
    match = _PART.match(path) or _NAMED.match(path)
    if "//" in path:
        sentence = "The id or name is empty."
    elif match is None or match["folder"] not in _NOUNS:
        return refusal
    else:
        noun, listing = _NOUNS[match["folder"]]
        sentence = f"There is no {noun} {unquote(match['name'])}. See {listing}."
    return ApiRefused(refusal.detail.removesuffix(_NOT_FOUND) + sentence, status=refusal.status)

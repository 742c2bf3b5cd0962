"""A client of a running server's API for commands; uses the standard library only."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import cached_property
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse
from typing import Any, override
from urllib.parse import quote, unquote, urlencode, urlsplit

from hoglet.cli.server.address import server_url
from hoglet.cli.server.api_errors import ApiRefused, NoProject, name_missing, read_refusal
from hoglet.kit.errors import HogletError

_OWN = "@current"
_SECONDS = 60
_PAGE = 500
_MAX_WAIT_SECONDS = 120  # for one request
_CAPTURE_TOKEN = "phc_"  # noqa: S105


class ApiUnreachable(HogletError):
    """The server is unreachable, or its response is not the API's."""

    code = "api_unreachable"
    blame = "operator"


class BadKey(HogletError):
    """The text cannot be an API key."""

    code = "bad_key"
    blame = "operator"


def check_key(key: str) -> None:
    """Reject what cannot be an API key before it is sent.

    Raises:
        BadKey: with what to do instead.
    """
    if not key.isascii() or not key.isprintable() or " " in key:
        raise BadKey("The API key contains invalid characters; check --key.")
    if key.startswith(_CAPTURE_TOKEN):
        raise BadKey(
            "A project token (phc_…) can only capture events; use a personal API key (phx_…)."
        )


class ApiClient:
    """Calls the API of one project.

    Args:
        url: the URL of the server, as :func:`server_url` accepts it.
        key: an API key, sent as a bearer token.
        project: its id or ``@current``.
        timeout_s: seconds without data after which a request is aborted.
    """

    def __init__(
        self, url: str, key: str, project: str = _OWN, *, timeout_s: float = _SECONDS
    ) -> None:
        check_key(key)
        self.url = server_url(url)
        self._key = key
        self._timeout_s = timeout_s
        self._project = quote(project, safe="@")
        self._base = f"{self.url}/api/projects/{self._project}"
        self._of_environment = set[str]()
        self._opener = urllib.request.build_opener(_NoRedirects, _Https)

    @property
    def target(self) -> str:
        """The server and the project, for messages and comparisons."""
        return f"{self.url} {self._project}"

    @property
    def site(self) -> "ApiClient":
        """The same server's routes that belong to no project."""
        client = ApiClient(self.url, self._key)
        client._base = f"{self.url}/api"
        return client

    def is_hoglet(self) -> bool:
        """Whether the server is hoglet rather than another implementation of the API.

        Raises:
            ApiUnreachable: the server does not respond.
        """
        root = ApiClient(self.url, self._key)
        root._base = self.url
        try:
            health = root.call("GET", "/_readyz")
        except ApiRefused as refusal:  # a hoglet server that is not ready says why
            return '"checks"' in refusal.detail
        except ApiUnreachable:  # not JSON; a later request reports an unreachable server
            return False
        return isinstance(health, dict) and isinstance(health.get("checks"), dict)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """One request below the project, e.g. ``call("GET", "/endpoints/")``; its JSON.

        Reads that are throttled (429 with ``Retry-After``) are repeated after the delay.

        Raises:
            ApiRefused: a status of 400 and above; the detail is the server's.
            ApiUnreachable: the server does not respond.
        """
        try:
            with self._open_patiently(method, path, body) as answer:
                text = answer.read()
            return json.loads(text) if text else None
        except (ValueError, RecursionError, HTTPException):
            raise not_hoglet(self.url) from None

    def _open_patiently(self, method: str, path: str, body: Any) -> Any:
        waited = 0
        while True:
            try:
                return self.open(method, path, body)
            except ApiRefused as refusal:
                seconds = refusal.retry_after
                if method != "GET" or seconds is None or waited >= _MAX_WAIT_SECONDS:
                    raise
            waited += seconds
            time.sleep(seconds)

    def open(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Send one request; the caller reads and closes the response.

        Raises:
            ApiRefused, ApiUnreachable: as ``call``.
        """
        request = urllib.request.Request(  # noqa: S310 (the scheme is checked by server_url)
            self._url_of(path),
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers={
                "Authorization": f"Bearer {self._key}",
                "Content-Type": "application/json",
                **headers,
            },
        )
        try:
            return self._opener.open(request, timeout=self._timeout_s)
        except urllib.error.HTTPError as error:
            raise self._explained(read_refusal(error, self.url), path) from None
        except HTTPException:
            raise not_hoglet(self.url) from None
        except OSError as error:
            raise no_answer(self.url, error) from None

    def _explained(self, refusal: ApiRefused, path: str) -> ApiRefused:
        """The error, naming the project or object that does not exist."""
        is_chosen = self._project != _OWN and self._base.endswith(f"/projects/{self._project}")
        if is_chosen and refusal.names_nothing and not self._has_project():
            raise NoProject(
                f"This key has no access to a project {unquote(self._project)} at {self.url}: "
                "choose another --project, or omit it to use your current one."
            )
        named = name_missing(refusal, path)
        if named.names_nothing and urlsplit(self.url).path:
            hint = f"{named.detail} --url is {self.url}: remove /api and everything after it."
            return ApiRefused(hint, status=named.status)
        return named

    def _has_project(self) -> bool:
        request = urllib.request.Request(  # noqa: S310 (the scheme is checked by server_url)
            f"{self._base}/", headers={"Authorization": f"Bearer {self._key}"}
        )
        try:
            self._opener.open(request, timeout=self._timeout_s).close()
        except urllib.error.HTTPError as error:
            return error.code != HTTPStatus.NOT_FOUND
        except (OSError, HTTPException):
            return True
        return True

    def every(self, path: str, **query: str) -> Iterator[Any]:
        """All items of a list, page by page.

        Falls back to the environment's list, and its items, on servers without a project list.
        """
        offset = 0
        while True:
            asked = urlencode({**query, "limit": _PAGE, "offset": offset})
            try:
                page = self.call("GET", f"{path}?{asked}")
            except ApiRefused as refusal:
                if refusal.status != HTTPStatus.NOT_FOUND or path in self._of_environment:
                    raise
                self._of_environment.add(path)
                continue
            if not isinstance(page, dict) or not isinstance(page.get("results"), list):
                raise not_hoglet(self.url)
            yield from page["results"]
            offset += len(page["results"])
            if not page["results"] or not page.get("next"):
                return

    def _url_of(self, path: str) -> str:
        if self._of_environment and path.startswith(tuple(self._of_environment)):
            return f"{self.url}/api/environments/{self._project}{path}"
        return self._base + path


class _Https(urllib.request.HTTPSHandler):
    """Reads the certificate authorities for the first HTTPS request: that takes 20 ms."""

    def __init__(self) -> None:
        urllib.request.AbstractHTTPHandler.__init__(self)

    @override
    def https_open(self, req: urllib.request.Request) -> HTTPResponse:
        """As the base class, which reads them when it is created."""
        return self._base.https_open(req)

    @cached_property
    def _base(self) -> urllib.request.HTTPSHandler:
        return urllib.request.HTTPSHandler()


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The API never redirects; following a redirect could leak the key."""

    def redirect_request(self, *_args: Any, **_more: Any) -> None:
        """Do not follow redirects; the response becomes an error."""


def no_answer(url: str, error: OSError) -> ApiUnreachable:
    """The error for a server that cannot be reached."""
    reason = getattr(error, "reason", error)
    why = (reason.strerror if isinstance(reason, OSError) else None) or reason
    return ApiUnreachable(
        f"No server answers at {url}: {why}. Start it with hoglet serve, or check --url."
    )


def not_hoglet(url: str) -> ApiUnreachable:
    """The error for a response that does not have the shape of the API."""
    return ApiUnreachable(f"{url} does not respond like a hoglet server.")

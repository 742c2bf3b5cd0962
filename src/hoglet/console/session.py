"""Signing in with a personal API key, stored in an encrypted cookie.

Encrypted with the data folder's secret, so sessions survive a restart, and checked on every page,
so a revoked key ends the session. ``SameSite=Strict`` keeps other sites from using it;
``Sec-Fetch-Site`` keeps their forms from signing a visitor in as someone else, or out.
"""

from urllib.parse import parse_qs, quote
from weakref import WeakKeyDictionary

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from hoglet.console.api_client import Backend
from hoglet.web.request_body import read_body

COOKIE = "hoglet_console"
SESSION_SECONDS = 30 * 24 * 3600
SIGN_IN = "/sign-in"
_FORM_BYTES = 10_000


class Sessions:
    """Encrypts and decrypts the cookie.

    Args:
        secret_keys: Fernet keys, newest first.
        api: the application, which validates keys.
    """

    def __init__(self, secret_keys: list[str], api: ASGIApp) -> None:
        self._cipher = MultiFernet([Fernet(key) for key in secret_keys])
        self._api = api
        self._cookies = WeakKeyDictionary[Backend, str]()  # of open pages

    def key_of(self, request: Request) -> str | None:
        """The key of the signed-in user; an invalid cookie counts as none."""
        token = request.cookies.get(COOKIE, "")
        try:
            return self._cipher.decrypt(token, ttl=SESSION_SECONDS).decode()
        except (InvalidToken, ValueError):  # ValueError: the cookie has non-ASCII characters
            return None

    def backend(self, request: Request, project_id: str = "@current") -> Backend | None:
        """The API client of the signed-in user."""
        key = self.key_of(request)
        origin = (request.url.scheme, request.url.netloc)
        if key is None:
            return None
        backend = Backend(self._api, key, project_id, origin)
        self._cookies[backend] = request.cookies[COOKIE]
        return backend

    def routes(self) -> list[Route]:
        """The routes that set and clear the cookie."""
        return [
            Route("/console/sign-in", self._sign_in, methods=["POST"]),
            Route("/console/sign-out", self._sign_out, methods=["POST"]),
        ]

    async def _sign_in(self, request: Request) -> Response:
        if _is_from_another_site(request):
            return RedirectResponse(SIGN_IN, 303)
        form = parse_qs((await read_body(request, limit_bytes=_FORM_BYTES)).decode("latin-1"))
        key = form.get("key", [""])[0].strip()
        target = safe_target(form.get("next", ["/"])[0])
        backend = Backend(self._api, key)
        if not key or not (await backend.call("GET", "/api/personal_api_keys/@current")).is_good:
            return RedirectResponse(f"{SIGN_IN}?failed=1&next={quote(target)}", 303)
        response = RedirectResponse(target, 303)
        response.set_cookie(
            COOKIE,
            self._cipher.encrypt(key.encode()).decode(),
            max_age=SESSION_SECONDS,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return response

    async def _sign_out(self, request: Request) -> Response:
        if _is_from_another_site(request):
            return RedirectResponse("/", 303)
        for backend, cookie in list(self._cookies.items()):
            if cookie == request.cookies.get(COOKIE):
                backend.sign_out()  # the other tabs of this browser
        response = RedirectResponse(SIGN_IN, 303)
        response.delete_cookie(COOKIE, httponly=True, samesite="strict")
        return response


def _is_from_another_site(request: Request) -> bool:
    """Whether the browser says so; only requests over HTTPS and to localhost tell."""
    return request.headers.get("sec-fetch-site") == "cross-site"


def safe_target(target: str) -> str:
    r"""The requested path if it is on this site, else ``/``.

    Example:
        >>> [safe_target(each) for each in ("/project/1", "//evil.example", "/\\evil.example")]
        ['/project/1', '/', '/']
    """
    inside = target.startswith("/") and not target.startswith(("//", "/\\"))
    return target if inside and target.isprintable() else "/"

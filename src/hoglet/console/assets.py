"""Serves the console's stylesheet and script at URLs with a content hash."""

from functools import cache
from hashlib import sha256
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_FOLDER = Path(__file__).parent / "static"
_TYPES = {"console.css": "text/css", "console.js": "text/javascript"}
_FOREVER = "public, max-age=31536000, immutable"


def head_html() -> str:
    """What every page loads before its content."""
    return (
        f'<link rel="stylesheet" href="{_address("console.css")}">'
        f'<script src="{_address("console.js")}"></script>'
    )


def asset_routes() -> list[Route]:
    """The routes of the files; a wrong hash is a 404, so no stale file stays cached."""
    return [Route(_address(name), _serve, name=name) for name in _TYPES]


def _address(name: str) -> str:
    return f"/console/assets/{_hash(name)}/{name}"


@cache
def _content(name: str) -> bytes:
    return (_FOLDER / name).read_bytes()


@cache
def _hash(name: str) -> str:
    return sha256(_content(name)).hexdigest()[:16]


async def _serve(request: Request) -> Response:
    name = request.url.path.rsplit("/", 1)[1]
    return Response(_content(name), media_type=_TYPES[name], headers={"cache-control": _FOREVER})

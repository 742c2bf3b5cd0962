"""The versions of an endpoint, side by side with the one before."""

from difflib import unified_diff
from typing import Any

import orjson
from nicegui import ui

from hoglet.console.backend import Backend
from hoglet.console.frame import failed, short_time

_PAGE = 50


async def versions_panel(backend: Backend, path: str) -> None:
    """The newest versions with what each changed.

    Args:
        backend: whose.
        path: of the endpoint, ``/endpoints/<name>``.
    """
    reply = await backend.get(f"{path}/versions", limit=_PAGE)
    if not reply.is_good:
        failed(reply)
        return
    found = reply.body["results"]
    for version, before in zip(found, [*found[1:], None], strict=True):
        _version(version, before)


def _version(version: dict[str, Any], before: dict[str, Any] | None) -> None:
    notes = [f"version {version['version']}", f"{short_time(version['version_created_at'])} UTC"]
    notes += [] if version["is_active"] else ["off"]
    notes += ["materialized"] if version["is_materialized"] else []
    with ui.expansion(" · ".join(notes)).classes("w-full").mark("version"):
        if before is None:
            ui.code(query_text(version["query"])).classes("w-full")
        else:
            ui.code(_difference(before, version), language="diff").classes("w-full")


def _difference(before: dict[str, Any], after: dict[str, Any]) -> str:
    lines = unified_diff(
        query_text(before["query"]).splitlines(),
        query_text(after["query"]).splitlines(),
        f"version {before['version']}",
        f"version {after['version']}",
        lineterm="",
    )
    return "\n".join(lines) or "The same text."


def query_text(query: dict[str, Any]) -> str:
    """What a person wrote: the SQL, or the insight without its empty keys."""
    if query["kind"] == "HogQLQuery":
        return str(query["query"])
    given = {name: value for name, value in query.items() if value is not None}
    return orjson.dumps(given, option=orjson.OPT_INDENT_2).decode()

"""The versions of an endpoint, each with what it changed of the one before."""

from typing import Any

import orjson
from nicegui import ui

from hoglet.console.backend import Backend
from hoglet.console.frame import failed, short_time

_PAGE = 50


async def versions_panel(backend: Backend, path: str) -> None:
    """The newest versions; what one changed is read when it is opened.

    Args:
        backend: whose.
        path: of the endpoint, ``/endpoints/<name>``.
    """
    reply = await backend.get(f"{path}/versions", limit=_PAGE)
    if not reply.is_good:
        failed(reply)
        return
    for version in reply.body["results"]:
        _version(backend, path, version)


def _version(backend: Backend, path: str, version: dict[str, Any]) -> None:
    async def show() -> None:
        if panel.default_slot.children:
            return
        with panel:
            if version["version"] == 1:
                ui.code(query_text(version["query"])).classes("w-full")
            else:
                await _difference(backend, path, version["version"])

    notes = [f"version {version['version']}", f"{short_time(version['version_created_at'])} UTC"]
    notes += [] if version["is_active"] else ["off"]
    notes += ["materialized"] if version["is_materialized"] else []
    with ui.expansion(" · ".join(notes), on_value_change=show).classes("w-full").mark("version"):
        panel = ui.column().classes("w-full gap-2")


async def _difference(backend: Backend, path: str, number: int) -> None:
    reply = await backend.get(f"{path}/versions/{number - 1}/diff/{number}")
    if not reply.is_good:
        failed(reply)
        return
    text = reply.body["query_diff"] or "The query is the same."
    ui.code(text, language="diff").classes("w-full")
    for change in reply.body["changes"]:
        before, after = (orjson.dumps(change[side]).decode() for side in "ab")
        ui.label(f"{change['field']}: {before} → {after}").classes("font-mono text-sm")


def query_text(query: dict[str, Any]) -> str:
    """What a person wrote: the SQL, or the insight without its empty keys."""
    if query["kind"] == "HogQLQuery":
        return str(query["query"])
    given = {name: value for name, value in query.items() if value is not None}
    return orjson.dumps(given, option=orjson.OPT_INDENT_2).decode()

"""The versions of an endpoint: diffs and aliases."""

from typing import Any
from urllib.parse import quote

import orjson
from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.records.endpoints import AliasRecord, EndpointVersionRecord
from hoglet.console.records.project import StoredQuery
from hoglet.console.source_excerpt import code_block, diff_block
from hoglet.console.widgets import Text, exact_time, failed, notify, until_closed

_PAGE = 50


async def versions_panel(backend: Backend, path: str) -> None:
    """The newest versions; their changes are loaded when opened.

    Args:
        backend: API client of the signed-in user.
        path: the path of the endpoint, ``/endpoints/<name>``.
    """
    reply = await backend.get(f"{path}/versions", limit=_PAGE)
    if not reply.is_good:
        failed(reply)
        return
    versions: list[EndpointVersionRecord] = reply.body["results"]

    @ui.refreshable
    async def listing() -> None:
        aliases = await backend.get(f"{path}/aliases")
        records: list[AliasRecord] = aliases.body["results"] if aliases.is_good else []
        _aliases(records, forget)
        for version in versions:
            named = [
                record["alias"] for record in records if record["version"] == version["version"]
            ]
            _version(backend, path, version, named)

    async def point(alias: str, number: int) -> None:
        to = f"{path}/aliases/{quote(alias, safe='')}"
        reply = await backend.send("PUT", to, {"version": number})
        if notify(reply, f"{alias} now points to version {number}."):
            await listing.refresh()

    async def forget(alias: str) -> None:
        reply = await backend.send("DELETE", f"{path}/aliases/{alias}", None)
        if notify(reply, f"{alias} was deleted; its version remains."):
            await listing.refresh()

    numbers = [version["version"] for version in versions]
    with ui.row().classes("w-full items-center gap-x-12 gap-y-4"):
        _pointing(numbers, point)
        _comparing(backend, path, numbers)
    await listing()


def _pointing(numbers: list[int], point: Any) -> None:
    with ui.row().classes("items-center gap-2"):
        alias = ui.input("Alias", placeholder="prod").props("outlined dense stack-label")
        alias.classes("w-32")
        number = _choice("Points to version", numbers, numbers[0])
        button = ui.button("Set alias", on_click=lambda: point(alias.value, number.value))
        button.props("outline no-caps").bind_enabled_from(alias, "value")


def _comparing(backend: Backend, path: str, numbers: list[int]) -> None:
    async def compare() -> None:
        with ui.dialog(value=True) as dialog, ui.card().classes("w-full max-w-3xl"):
            title = f"Version {before.value} to {after.value}"
            dialog.props["aria-label"] = title
            Text("h2", title)
            await _difference(backend, path, before.value, after.value)
            ui.button("Close", on_click=dialog.close).props("flat no-caps autofocus")
        await until_closed(dialog)

    if len(numbers) < 2:
        return
    with ui.row().classes("items-center gap-2"):
        before = _choice("from version", numbers, numbers[1])
        after = _choice("to version", numbers, numbers[0])
        ui.button("Compare", on_click=compare).props("outline no-caps")


def _choice(label: str, numbers: list[int], value: int) -> ui.select:
    chosen = ui.select(numbers, value=value, label=label)
    return chosen.classes("w-40").props("outlined dense options-dense")


def _aliases(aliases: list[AliasRecord], forget: Any) -> None:
    with ui.row().classes("w-full items-center gap-2 py-2").mark("aliases"):
        for record in aliases:
            with ui.badge(f"{record['alias']} → version {record['version']}").props("outline"):
                button = ui.button(
                    icon="close", on_click=lambda alias=record["alias"]: forget(alias)
                ).props("flat dense round size=xs")
                button.props["aria-label"] = f"Forget {record['alias']}"
        if not aliases:
            ui.label(
                "An alias such as prod points to a version; callers use it instead of a number."
            ).classes("text-sm opacity-70")


def _version(
    backend: Backend, path: str, version: EndpointVersionRecord, aliases: list[str]
) -> None:
    async def show() -> None:
        if panel.default_slot.children:
            return
        with panel:
            if version["version"] == 1:
                code_block(query_text(version["query"]))
            else:
                await _difference(backend, path, version["version"] - 1, version["version"])

    notes = [
        f"version {version['version']}",
        exact_time(version["version_created_at"], backend.zone),
    ]
    notes += [] if version["is_active"] else ["off"]
    notes += ["materialized"] if version["is_materialized"] else []
    notes += aliases
    with ui.expansion(" · ".join(notes), on_value_change=show).classes("w-full").mark("version"):
        panel = ui.column().classes("w-full gap-2")


async def _difference(backend: Backend, path: str, before: int, after: int) -> None:
    reply = await backend.get(f"{path}/versions/{before}/diff/{after}")
    if not reply.is_good:
        failed(reply)
        return
    diff_block(reply.body["query_diff"] or "The query is unchanged.")
    for change in reply.body["changes"]:
        old, new = (orjson.dumps(change[side]).decode() for side in "ab")
        ui.label(f"{change['field']}: {old} → {new}").classes("font-mono text-sm break-all")


def query_text(query: StoredQuery) -> str:
    """The query as its author wrote it: the SQL, or the insight without empty keys."""
    if query["kind"] == "HogQLQuery":
        return str(query["query"])
    given = {name: value for name, value in query.items() if value is not None}
    return orjson.dumps(given, option=orjson.OPT_INDENT_2).decode()

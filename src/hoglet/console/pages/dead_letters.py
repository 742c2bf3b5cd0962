"""The dead letters of a function, with details and redrive."""

from typing import Any

import orjson
from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.layout import (
    badge_cell,
    columns,
    empty,
    failed,
    short_time,
    tell,
    until_closed,
)
from hoglet.console.source_excerpt import code_block

_PAGE = 500


async def dead_letters_panel(backend: Backend, path: str) -> None:
    """The newest dead letters; all or selected ones can be redriven.

    Args:
        backend: the user's.
        path: of the function, ``/hog_functions/<id>``.
    """
    letters = f"{path}/dead_letters"

    @ui.refreshable
    async def listing() -> None:
        reply = await backend.get(letters, limit=_PAGE, redriven="false")
        if not reply.is_good:
            failed(reply)
        elif not reply.body["results"]:
            empty("Nothing failed", "Failed runs are kept here for a week.", "done_all")
        else:
            _listed(reply.body["results"], redrive)

    async def redrive(body: dict[str, Any]) -> None:
        reply = await backend.send("POST", f"{letters}/redrive", body)
        queued = reply.body["queued"] if reply.is_good else 0
        if tell(reply, f"{queued} queued again."):
            listing.refresh()

    async def show(event: Any) -> None:
        reply = await backend.get(f"{letters}/{event.args[1]['id']}")
        await _show(reply.body if reply.is_good else {"problem": reply.problem})

    def _listed(found: list[dict[str, Any]], redrive: Any) -> None:
        table = _table(found)
        table.on("rowClick", show)

        async def redrive_chosen() -> None:
            await redrive({"ids": [row["id"] for row in table.selected]})

        with ui.row().classes("items-center gap-2"):
            ui.button(
                "Try all again", icon="replay", on_click=lambda: redrive({"all": True})
            ).props("no-caps")
            chosen = ui.button("Try selected again", on_click=redrive_chosen)
            chosen.props("flat no-caps")
            chosen.bind_enabled_from(table, "selected", backward=bool)

    await listing()


def _table(found: list[dict[str, Any]]) -> ui.table:
    rows = [
        {
            "id": letter["id"],
            "time": short_time(letter["last_failed_at"]),
            "class": letter["class"],
            "class_color": "negative",
            "event": letter["event"],
            "distinct_id": letter["distinct_id"],
            "attempts": letter["attempts"],
            "error": letter["error"],
        }
        for letter in found
    ]
    shown = columns(
        ("time", "Failed (UTC)"),
        ("class", "Class"),
        ("event", "Event"),
        ("distinct_id", "Distinct id"),
        ("attempts", "Attempts"),
        ("error", "Error"),
    )
    table = ui.table(rows=rows, row_key="id", columns=shown, pagination=25, selection="multiple")
    table.classes("w-full").props("dense wrap-cells").mark("dead-letters")
    badge_cell(table, "class")
    return table


async def _show(letter: dict[str, Any]) -> None:
    """Show a dead letter with the globals of its run in a dialog."""
    text = orjson.dumps(letter, option=orjson.OPT_INDENT_2).decode()
    with ui.dialog(value=True) as dialog, ui.card().classes("w-full max-w-3xl"):
        code_block(text)
        ui.button("Close", on_click=dialog.close).props("flat no-caps")
    await until_closed(dialog)

"""The dead letters of a function, with details and redrive."""

from typing import Any

import orjson
from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.components.data_table import DataTable, column
from hoglet.console.records import DeadLetterRecord, RequestBody
from hoglet.console.source_excerpt import code_block
from hoglet.console.widgets import empty, failed, notify, until_closed

_PAGE = 500
_CAUSES = {
    "filter": "error in a filter",
    "inputs": "error in an input",
    "fetch": "request failed",
    "timeout": "timeout",
    "hog": "error in the code",
    "disabled": "function disabled",
}


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

    async def redrive(body: RequestBody) -> None:
        reply = await backend.send("POST", f"{letters}/redrive", body)
        queued = reply.body["queued"] if reply.is_good else 0
        if notify(reply, f"{queued} queued again."):
            listing.refresh()

    async def show(letter_id: str) -> None:
        reply = await backend.get(f"{letters}/{letter_id}")
        await _show(reply.body if reply.is_good else {"problem": reply.problem})

    def _listed(found: list[DeadLetterRecord], redrive: Any) -> None:
        async def redrive_chosen() -> None:
            await redrive({"ids": table.selected})

        with ui.row().classes("items-center gap-2"):
            ui.button("Redrive all", icon="replay", on_click=lambda: redrive({"all": True})).props(
                "no-caps"
            )
            chosen = ui.button("Redrive selected", on_click=redrive_chosen)
            chosen.props("flat no-caps").set_enabled(False)
        table = _table(found, show, lambda keys: chosen.set_enabled(bool(keys)))

    await listing()


def _table(found: list[DeadLetterRecord], show: Any, choose: Any) -> DataTable:
    rows = [
        {
            "id": letter["id"],
            "time": letter["last_failed_at"],
            "class": _CAUSES.get(letter["class"], letter["class"]),
            "class_tone": "danger",
            "event": letter["event"],
            "distinct_id": letter["distinct_id"],
            "attempts": letter["attempts"],
            "error": letter["error"],
        }
        for letter in found
    ]
    columns = [
        column("event", "Event"),
        column("time", "Failed", "time"),
        column("class", "Cause", "badge"),
        column("distinct_id", "Distinct id"),
        column("attempts", "Attempts", "number"),
        column("error", "Error", "mono"),
    ]
    table = DataTable("Failed runs", columns, rows, selectable=True, on_row=show, on_select=choose)
    return table.mark("dead-letters")


async def _show(dead_letter: DeadLetterRecord | dict[str, str]) -> None:
    """Show a dead letter with the globals of its run in a dialog."""
    text = orjson.dumps(dead_letter, option=orjson.OPT_INDENT_2).decode()
    with ui.dialog(value=True) as dialog, ui.card().classes("w-full max-w-3xl"):
        code_block(text)
        ui.button("Close", on_click=dialog.close).props("flat no-caps")
    await until_closed(dialog)

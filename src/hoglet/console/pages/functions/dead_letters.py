"""The dead letters of a function, with details and redrive."""

import orjson
from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.components.data_table import Row, column
from hoglet.console.components.live_table import LiveTable
from hoglet.console.components.polling import poll_while_visible
from hoglet.console.records.functions import DeadLetterRecord
from hoglet.console.records.project import RequestBody
from hoglet.console.source_excerpt import code_block
from hoglet.console.widgets import Text, empty, notify, one_at_a_time, until_closed

_PAGE = 500
_AGAIN_SECONDS = 5.0
_COLUMNS = [
    column("event", "Event"),
    column("time", "Failed", "time"),
    column("class", "Cause", "badge"),
    column("distinct_id", "Distinct id"),
    column("attempts", "Attempts", "number"),
    column("error", "Error", "mono"),
]
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
        backend: API client of the signed-in user.
        path: the path of the function, ``/hog_functions/<id>``.
    """
    await _Panel(backend, f"{path}/dead_letters").draw()


class _Panel:
    def __init__(self, backend: Backend, path: str) -> None:
        self._backend = backend
        self._path = path
        self._listed: list[DeadLetterRecord] | None = None

    async def draw(self) -> None:
        self._buttons = ui.row().classes("items-center gap-2")
        with self._buttons:
            ui.button("Redrive all", icon="replay", on_click=one_at_a_time(self._redrive_all))
            self._chosen = ui.button(
                "Redrive selected", on_click=one_at_a_time(self._redrive_chosen)
            )
            self._chosen.props("flat").set_enabled(False)
        text = f"The newest {_PAGE} are shown. Redrive all includes the older ones."
        self._caption = ui.label(text).classes("muted")
        self._caption.set_visibility(False)
        self._table = LiveTable(
            "Failed runs",
            _COLUMNS,
            lambda: empty("Nothing failed", "Failed runs are kept here for a week.", "done_all"),
            selectable=True,
            follows=True,
            on_row=self._show_one,
            on_select=lambda keys: self._chosen.set_enabled(bool(keys)),
        )
        await self._show()
        poll_while_visible(_AGAIN_SECONDS, self._show)

    async def _show(self) -> None:
        """Update the rows in place, so that focus and selection are kept."""
        reply = await self._backend.get(self._path, limit=_PAGE, redriven="false")
        dead_letters: list[DeadLetterRecord] = reply.body["results"] if reply.is_good else []
        if reply.is_good and dead_letters == self._listed:
            return
        self._listed = dead_letters if reply.is_good else None
        self._buttons.set_visibility(bool(dead_letters))
        self._caption.set_visibility(reply.is_good and bool(reply.body["next"]))
        if not reply.is_good:
            self._table.fail(reply)
            return
        self._table.show(_rows(dead_letters))
        self._chosen.set_enabled(bool(self._table.selected))

    async def _redrive_all(self) -> None:
        await self._redrive({"all": True})

    async def _redrive_chosen(self) -> None:
        await self._redrive({"ids": self._table.selected})

    async def _redrive(self, body: RequestBody) -> None:
        reply = await self._backend.send("POST", f"{self._path}/redrive", body)
        queued = reply.body["queued"] if reply.is_good else 0
        if notify(reply, f"{queued} queued again."):
            await self._show()

    async def _show_one(self, letter_id: str) -> None:
        reply = await self._backend.get(f"{self._path}/{letter_id}")
        await _show(reply.body if reply.is_good else {"problem": reply.problem})


def _rows(dead_letters: list[DeadLetterRecord]) -> list[Row]:
    return [
        {
            "id": dead_letter["id"],
            "time": dead_letter["last_failed_at"],
            "class": _CAUSES.get(dead_letter["class"], dead_letter["class"]),
            "class_tone": "danger",
            "event": dead_letter["event"],
            "distinct_id": dead_letter["distinct_id"],
            "attempts": dead_letter["attempts"],
            "error": dead_letter["error"],
        }
        for dead_letter in dead_letters
    ]


async def _show(dead_letter: DeadLetterRecord | dict[str, str]) -> None:
    """Show a dialog with a dead letter and the globals of its run."""
    text = orjson.dumps(dead_letter, option=orjson.OPT_INDENT_2).decode()
    with ui.dialog(value=True) as dialog, ui.card().classes("w-full max-w-3xl"):
        dialog.props["aria-label"] = "Failed run"
        Text("h2", "Failed run")
        code_block(text)
        ui.button("Close", on_click=dialog.close).props("flat no-caps autofocus")
    await until_closed(dialog)

"""A dialog with fields and a button (or Enter) that sends them; it stays open on errors."""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager

from nicegui import ui

from hoglet.console.api_client import Reply
from hoglet.console.components.field_errors import FieldErrors, Fields
from hoglet.console.widgets import Text, remove, submit_button

type Send = Callable[[], Awaitable[Reply]]


class FormDialog:
    """The dialog; ``send`` is set once its fields exist.

    Args:
        title: also names the dialog for screen readers.
        button: sends the form.
        wide: whether the dialog is wide enough for rows of fields.
    """

    def __init__(self, title: str, button: str, *, wide: bool = False) -> None:
        self._send: Send | None = None
        self._reply: Reply | None = None
        self._errors: FieldErrors | None = None
        self._is_complete = asyncio.Event()  # users may press Enter before the last field is there
        self._dialog = ui.dialog(value=True)
        self._dialog.props["aria-label"] = title
        width = "max-w-3xl" if wide else "max-w-xl"
        with self._dialog, ui.card().classes(f"w-full {width}").props("data-form"):
            Text("h2", title)
            self._fields = ui.element("div").classes("pane")
            self._problem = ui.element("div")
            with ui.row().classes("w-full justify-end gap-2"):
                ui.button("Cancel", on_click=self._dialog.close).props("flat")
                self._button = submit_button(button, self.submit)

    @contextmanager
    def fields(self) -> Generator[None]:
        """Where the fields are rendered."""
        with self._fields:
            yield

    async def answered(self, send: Send, fields: Fields | None = None) -> Reply | None:
        """The successful response to ``send``; None if the dialog was cancelled.

        ``send`` may raise ValueError with a text for display; ``fields`` are those that API
        errors can refer to.
        """
        self._send = send
        with self._problem:
            self._errors = FieldErrors(fields or {})
        self._is_complete.set()
        await self._dialog
        remove(self._dialog)
        return self._reply

    async def submit(self) -> None:
        """Send the form once it is complete, unless it was closed by then."""
        self._button.props(add="loading")
        try:
            await self._is_complete.wait()
            reply = await self._sent()
        finally:
            self._button.props(remove="loading")
        if reply is not None and reply.is_good:
            self._reply = reply
            self._dialog.close()

    async def _sent(self) -> Reply | None:
        """The response, with its errors shown; None if nothing was sent."""
        if self._send is None or self._errors is None or not self._dialog.value:
            return None
        self._errors.clear()
        try:
            reply = await self._send()
        except ValueError as error:
            self._errors.report(str(error))
            return None
        if not reply.is_good:
            self._errors.show(reply)
        return reply

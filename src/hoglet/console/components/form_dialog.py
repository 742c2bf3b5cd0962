"""A dialog with fields and a button that sends them; errors stay in it."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager

from nicegui import ui

from hoglet.console.api_client import Reply
from hoglet.console.widgets import Text

type Send = Callable[[], Awaitable[Reply]]


class FormDialog:
    """The dialog; ``send`` is set once its fields exist.

    Args:
        title: also names the dialog for screen readers.
        button: sends the form.
    """

    def __init__(self, title: str, button: str) -> None:
        self._send: Send | None = None
        self._reply: Reply | None = None
        self._button = button
        self._dialog = ui.dialog(value=True)
        self._dialog.props["aria-label"] = title
        with self._dialog, ui.card().classes("w-full max-w-xl"):
            Text("h2", title)
            self._fields = ui.element("div").classes("pane")
            self._problem = ui.label().classes("field-error").props("role=alert")
            with ui.row().classes("w-full justify-end gap-2"):
                ui.button("Cancel", on_click=self._dialog.close).props("flat")
                ui.button(button, on_click=self.submit)

    @contextmanager
    def fields(self) -> Generator[None]:
        """Where the fields are rendered."""
        with self._fields:
            yield

    async def answered(self, send: Send) -> Reply | None:
        """The successful response to ``send``; None if the dialog was cancelled.

        ``send`` may raise ValueError with a text for display.
        """
        self._send = send
        await self._dialog
        if not self._dialog.is_deleted:
            self._dialog.delete()
        return self._reply

    async def submit(self) -> None:
        """Send the form."""
        if self._send is None:
            return
        try:
            reply = await self._send()
        except ValueError as error:
            self._problem.set_text(str(error))
            return
        self._problem.set_text("" if reply.is_good else reply.problem)
        if reply.is_good:
            self._reply = reply
            self._dialog.close()

"""A dialog is sent once its form is complete."""

import asyncio

from nicegui import Client, ui

from hoglet.console.api_client import Reply
from hoglet.console.components.form_dialog import FormDialog


async def test_enter_before_the_last_field_is_there_sends_the_form() -> None:
    sent: list[str] = []

    async def send() -> Reply:
        sent.append("form")
        return Reply(200, {})

    with Client(ui.page("/")):
        dialog = FormDialog("Edit", "Save")
        pressed = asyncio.create_task(dialog.submit())
        await asyncio.sleep(0)
        assert sent == []
        async with asyncio.timeout(30):  # instead of waiting for a click for ever
            reply = await dialog.answered(send)

    await pressed
    assert sent == ["form"]
    assert reply is not None

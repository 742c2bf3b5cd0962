"""The dialog that shows a new secret exactly once."""

from nicegui import ui

from hoglet.console.source_excerpt import code_block
from hoglet.console.widgets import Text, until_closed


async def shown_once(noun: str, secret: str, hint: str, call: str = "") -> None:
    """Show a secret until the user presses Done; ``call`` is code that uses it."""
    with ui.dialog(value=True) as dialog, ui.card().classes("w-full max-w-xl"):
        dialog.props("persistent")
        dialog.props["aria-label"] = f"The new {noun}"
        Text("h2", f"Copy the {noun} now")
        ui.label(hint)
        code_block(secret, wraps=True)
        if call:
            Text("h3", "Call with it")
            code_block(call, wraps=True)
        ui.button("Done", on_click=dialog.close).props("autofocus").style("align-self: flex-end")
    await until_closed(dialog)

"""How to try functions that have no test runs: webhooks and site functions."""

import shlex

from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.records import FunctionRecord
from hoglet.console.source_excerpt import code_block
from hoglet.console.widgets import Text

UNTESTABLE = frozenset({"source_webhook", "site_app", "site_destination"})
_ON_SITES = (
    "Site functions run in the visitor's browser, on pages that load posthog-js with this server "
    "as api_host and with opt_in_site_apps: true. Enable the function, then open such a page."
)
_REQUEST = '{"event": "paid", "distinct_id": "user-1"}'


def untestable_panel(backend: Backend, function: FunctionRecord) -> None:
    """Render what stands in the place of the test panel.

    Args:
        backend: the user's.
        function: the API's record, of a type in ``UNTESTABLE``.
    """
    if function["type"] != "source_webhook":
        Text("h2", "Test")
        ui.label(_ON_SITES).classes("muted")
        return
    url = f"{backend.address}/public/webhooks/{function['id']}"
    Text("h2", "Webhook URL")
    code_block(url, wraps=True)
    ui.label("Enter it at the sender. It answers while the function is enabled.").classes("muted")
    Text("h2", "Test")
    curl = (
        f"curl {shlex.quote(url)} \\\n"
        "  -H 'Content-Type: application/json' \\\n"
        f"  -d {shlex.quote(_REQUEST)}"
    )
    code_block(curl, wraps=True)
    ui.label("What it captures is under Events, what it prints under Logs.").classes("muted")

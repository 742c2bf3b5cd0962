"""The page of a function: code, test runs, logs, metrics, dead letters and history."""

from typing import Any

from nicegui import ui
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from hoglet.console.api_client import Backend, Reply
from hoglet.console.charts import metrics_chart, totals
from hoglet.console.components.form_dialog import FormDialog
from hoglet.console.components.polling import poll_while_visible
from hoglet.console.components.save_warnings import open_with_warnings
from hoglet.console.layout import BUILD_SECONDS, signed_in_page
from hoglet.console.pages.functions.dead_letters import dead_letters_panel
from hoglet.console.pages.functions.functions import status_of
from hoglet.console.pages.functions.history import history_panel, written
from hoglet.console.pages.functions.logs import LogPanel
from hoglet.console.pages.functions.workbench import Workbench
from hoglet.console.pages.not_found import not_found_in
from hoglet.console.records.functions import FunctionRecord
from hoglet.console.session import Sessions
from hoglet.console.widgets import (
    Act,
    badge,
    confirm,
    empty,
    failed,
    heading,
    legend,
    notify,
    one_at_a_time,
    send_events_link,
    tabs,
)

_RANGES = {"-24h": "24 hours", "-7d": "7 days", "-30d": "30 days"}
_INTERVALS = {"-24h": "hour", "-7d": "day", "-30d": "day"}
_AGAIN_SECONDS = 5.0
_COPIED = ("type", "description", "hog", "inputs_schema", "filters", "mappings", "masking")


def register(sessions: Sessions) -> None:
    """Add the page, and a redirect to it."""

    @ui.page(
        "/project/{project_id}/functions/{function_id}",
        title="Function · hoglet",
        response_timeout=BUILD_SECONDS,
    )
    async def function(request: Request, project_id: str, function_id: str) -> Response | None:
        async def build(backend: Backend) -> None:
            await _build(backend, f"/hog_functions/{function_id}")

        return await signed_in_page(sessions, request, project_id, section="functions", build=build)

    @ui.page("/project/{project_id}/pipeline/destinations/hog-{function_id}/{rest:path}")
    async def linked(
        project_id: str,
        function_id: str,
        rest: str,  # noqa: ARG001
    ) -> Response:
        """Redirect from the URLs that PostHog's templates build from ``source.url``."""
        return RedirectResponse(f"/project/{project_id}/functions/{function_id}", 303)


async def _build(backend: Backend, path: str) -> None:
    reply = await backend.get(path)
    if reply.status == 404:
        not_found_in("functions", "There is no such function", backend.project_id)
        return
    if not reply.is_good:
        heading("Function")
        failed(reply)
        return
    function: FunctionRecord = reply.body
    _title(backend, path, function)
    await tabs(
        {
            "Function": Workbench(backend, path, function).draw,
            "Logs": LogPanel(
                backend, f"{path}/logs", "Runs are logged here.", comes_from_events=True
            ).draw,
            "Metrics": lambda: _metrics(backend, path),
            "Failed": lambda: dead_letters_panel(backend, path),
            "History": lambda: history_panel(backend, path),
        }
    )


def _title(backend: Backend, path: str, function: FunctionRecord) -> None:
    async def switch(event: Any) -> None:
        if event.value == function["enabled"]:
            return  # reset below
        reply = await backend.send("PATCH", path, {"enabled": event.value})
        if notify(reply, "Enabled." if event.value else "Disabled."):
            function["enabled"] = event.value
            function["updated_at"] = reply.body["updated_at"]
            state, tone = status_of(reply.body)
            status.set_text(state)
            status.classes(replace=f"badge {tone}".strip())
        else:
            event.sender.set_value(function["enabled"])

    state, tone = status_of(function)
    with ui.element("div").classes("toolbar"):
        kind = function["type"].replace("_", " ")
        note = " · ".join(filter(None, (kind, function["description"])))
        heading(function["name"] or "Untitled", note)
        status = badge(state, tone)
        ui.space()
        ui.switch("Enabled", value=function["enabled"], on_change=switch)
        _icon("edit", "Rename or describe", lambda: _rename(backend, path, function))
        _icon("content_copy", "Duplicate", lambda: _duplicate(backend, function))
        _icon("delete", "Delete", lambda: _delete(backend, path, function))


def _icon(icon: str, label: str, act: Act) -> None:
    button = ui.button(icon=icon, on_click=one_at_a_time(act)).props("flat dense")
    button.props["aria-label"] = label
    button.tooltip(label)


async def _rename(backend: Backend, path: str, function: FunctionRecord) -> None:
    dialog = FormDialog("Rename or describe", "Save")
    with dialog.fields():
        name = ui.input("Name", value=function["name"]).classes("w-full")
        name.props("outlined dense autofocus")
        description = ui.input("Description", value=function["description"]).classes("w-full")
        description.props("outlined dense")

    async def send() -> Reply:
        body = {"name": name.value or "", "description": description.value or ""}
        return await backend.send("PATCH", path, body)

    fields = {"name": name, "description": description}
    if await dialog.answered(send, fields) is not None:
        ui.navigate.reload()


async def _duplicate(backend: Backend, function: FunctionRecord) -> bool:
    """Create a disabled copy; stored secrets are not copied and must be entered again."""
    inputs = {
        key: given for key, given in (function["inputs"] or {}).items() if not given.get("secret")
    }
    body = {key: written(function[key]) for key in _COPIED if function.get(key) is not None}
    body |= {"inputs": inputs, "name": f"{function['name']} (copy)", "enabled": False}
    reply = await backend.send("POST", "/hog_functions", body)
    if notify(reply, "Duplicated. The copy is disabled."):
        path = f"/project/{backend.project_id}/functions/{reply.body['id']}"
        open_with_warnings(path, reply.body)
    return reply.is_good


async def _delete(backend: Backend, path: str, function: FunctionRecord) -> None:
    text = f"{function['name'] or 'This function'} stops running. Its history is kept."
    if not await confirm("Delete this function?", text, "Delete"):
        return
    if notify(await backend.send("PATCH", path, {"deleted": True}), "Deleted."):
        ui.navigate.to(f"/project/{backend.project_id}/functions")


async def _metrics(backend: Backend, path: str) -> None:
    """Runs by outcome; updated while the page is open."""
    chosen = ui.toggle(_RANGES, value="-7d").props("no-caps dense")
    box = ui.element("div").classes("pane")
    drawn: Reply | None = None

    async def show() -> None:
        nonlocal drawn
        after = chosen.value or "-7d"
        reply = await backend.get(
            f"{path}/metrics", after=after, interval=_INTERVALS[after], breakdown_by="name"
        )
        if after != (chosen.value or "-7d") or (drawn is not None and reply.body == drawn.body):
            return  # the period was changed in the meantime, or nothing is new
        drawn = reply
        box.clear()
        with box:
            _outcomes(reply, backend.project_id)

    chosen.on_value_change(show)
    await show()
    poll_while_visible(_AGAIN_SECONDS, show)


def _outcomes(reply: Reply, project_id: str) -> None:
    if not reply.is_good:
        failed(reply)
    elif not (counted := totals(reply.body)):
        hint = "Runs are counted here when events match."
        with empty("No runs in this period", hint, "bar_chart"):
            send_events_link(project_id)
    else:
        legend(counted)
        ui.echart(metrics_chart(reply.body)).classes("w-full h-80").mark("chart")

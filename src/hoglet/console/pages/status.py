"""The status page of the server: checks, warnings, queues, versions."""

import re
from collections.abc import Callable
from importlib.metadata import version
from platform import python_version

from nicegui import ui
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from hoglet.console.api_client import Backend
from hoglet.console.components.data_table import DataTable, Row, column
from hoglet.console.components.polling import poll_while_visible
from hoglet.console.layout import BUILD_SECONDS, projects_of, signed_in_page
from hoglet.console.session import SIGN_IN, Sessions
from hoglet.console.widgets import Link, badge, failed, heading, section

_METRIC = re.compile(rb"^hoglet_([a-z_]+?)(\{[^}]*\})? ([-+.eE\d]+)$", re.MULTILINE)
_HIDDEN = ("_created", "_bucket", "_sum")
_PACKAGES = ("hoglet", "chdb", "nicegui", "granian")
_REFRESH_SECONDS = 5.0
_FIGURES: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("spool lag seconds", "the oldest event waiting to be stored", lambda age: f"{age:.0f} s"),
    (
        "disk free bytes",
        "free on the disk of the data folder",
        lambda size: f"{size / 1e9:,.1f} GB",
    ),
)

_WORKERS_DIE = (
    "Usually because they ran out of memory: the log names the program or query, and "
    "HOGLET_WORKER_MEMORY_BYTES sets the limit."
)


def register(sessions: Sessions) -> None:
    """Add the page."""

    @ui.page("/status", title="Status · hoglet", response_timeout=BUILD_SECONDS)
    async def status(request: Request) -> Response | None:
        backend = sessions.backend(request)
        me = None if backend is None else await projects_of(backend)
        if me is None or not me.is_good or not me.body["results"]:
            return RedirectResponse(f"{SIGN_IN}?next=/status", 303)
        ids = [str(each["id"]) for each in me.body["results"]]
        chosen = request.query_params.get("project", "")
        project_id = chosen if chosen in ids else ids[0]
        return await signed_in_page(sessions, request, project_id, section="status", build=_build)


async def _build(backend: Backend) -> None:
    heading("Status", "The server and its parts")

    @ui.refreshable
    async def parts() -> None:
        ready = await backend.call("GET", "/_readyz")
        body = ready.body if isinstance(ready.body, dict) else {}
        if "checks" not in body:
            failed(ready)
            return
        with section("Parts"), ui.element("div").classes("figures"):
            for name, state in body["checks"].items():
                with ui.element("div").classes("figure"):
                    ui.label(name).classes("muted text-sm")
                    badge(str(state), "ok" if state == "ok" else "danger")
        for warning in body.get("warnings", []):
            _warning(backend, str(warning))
        rows = await _metrics(backend)
        _lag_and_disk(rows)
        with section("Queues"):
            _queues(rows)
        with section("Workers"):
            _workers(rows)
        table.set_rows(rows)

    box = ui.element("div").classes("pane")
    with ui.expansion("All metrics").classes("w-full"):
        columns = [
            column("name", "Metric"),
            column("labels", "Labels"),
            column("value", "Value", "number"),
        ]
        table = DataTable("Metrics", columns, [])
    with box:
        await parts()
    poll_while_visible(_REFRESH_SECONDS, parts.refresh)
    _versions()


def _versions() -> None:
    with section("Versions"):
        rows = [{"name": name, "version": version(name)} for name in _PACKAGES]
        rows.append({"name": "Python", "version": python_version()})
        columns = [column("name", "Package"), column("version", "Version")]
        DataTable("Versions", columns, rows, key="name")


async def _metrics(backend: Backend) -> list[Row]:
    metrics = await backend.call("GET", "/metrics")
    return [
        {
            "id": index,
            "name": name.decode().replace("_", " "),
            "labels": labels.decode().strip("{}").replace('"', ""),
            "value": float(value),
        }
        for index, (name, labels, value) in enumerate(_METRIC.findall(metrics.text))
        if not name.decode().endswith(_HIDDEN)
    ]


def _warning(backend: Backend, text: str) -> None:
    with ui.element("div").classes("notice"):
        ui.icon("warning").classes("text-xl")
        ui.label(text).classes("break-words grow")
        if "dead letter" in text:
            Link("Show them", f"/project/{backend.project_id}/dead-letters")
        elif "workers died" in text:
            ui.label(_WORKERS_DIE).classes("muted")


def _lag_and_disk(metrics: list[Row]) -> None:
    """Lag and disk as figures."""
    values = {each["name"]: each["value"] for each in metrics if not each["labels"]}
    with ui.element("div").classes("figures"):
        for name, label, text in _FIGURES:
            if name in values:
                with ui.element("div").classes("figure"):
                    ui.label(text(values[name])).classes("value")
                    ui.label(label).classes("muted text-sm")


def _queues(metrics: list[Row]) -> None:
    """The number of jobs in each queue by state."""
    queues: dict[str, Row] = {}
    for metric in metrics:
        labels = _labels_of(metric)
        if metric["name"] == "queue lag seconds" and "queue" in labels:
            queue = queues.setdefault(labels["queue"], {"name": labels["queue"]})
            queue["lag"] = round(metric["value"])
        if metric["name"] == "queue jobs" and {"queue", "state"} <= labels.keys():
            queue = queues.setdefault(labels["queue"], {"name": labels["queue"]})
            queue[labels["state"]] = metric["value"]
    columns = [
        column("name", "Queue"),
        column("ready", "Waiting", "number"),
        column("delayed", "Delayed", "number"),
        column("leased", "Running", "number"),
        column("failed", "Failed", "number"),
        column("lag", "Lag in seconds", "number"),
    ]
    DataTable("Queues", columns, [queues[name] for name in sorted(queues)], key="name")


def _workers(metrics: list[Row]) -> None:
    """The processes of each kind of worker, and those lost since the start."""
    workers: dict[str, Row] = {}
    for metric in metrics:
        labels = _labels_of(metric)
        if "workers" not in labels:
            continue
        kind = workers.setdefault(labels["workers"], {"name": labels["workers"], "lost": 0})
        if metric["name"] == "worker processes":
            kind[labels["state"]] = metric["value"]
        elif metric["name"] == "worker deaths total":
            kind["lost"] += metric["value"]
    columns = [
        column("name", "Workers"),
        column("busy", "At work", "number"),
        column("idle", "Idle", "number"),
        column("lost", "Lost since the start", "number"),
    ]
    DataTable("Workers", columns, list(workers.values()), key="name")


def _labels_of(metric: Row) -> dict[str, str]:
    return dict(label.split("=", 1) for label in metric["labels"].split(",") if "=" in label)

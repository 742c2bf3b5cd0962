"""The builds of an endpoint's table: a bar chart of their durations, and a list."""

from datetime import UTC, datetime

from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.charts import TONES, chart_frame
from hoglet.console.components.data_table import DataTable, Row, column
from hoglet.console.components.polling import poll_while_visible
from hoglet.console.records.endpoints import BuildRecord, ChartOptions, MaterializationRecord
from hoglet.console.widgets import empty, exact_time, failed, section

_MOST = 200
_BARS = 60
_AGAIN_SECONDS = 5.0
_STATES = {
    "Completed": ("built", "ok"),
    "Failed": ("failed", "danger"),
    "Cancelled": ("cancelled", ""),
    "Running": ("building", "busy"),
}
_UNCHANGED = ("up to date", "ok")


async def builds_panel(backend: Backend, path: str, state: MaterializationRecord) -> None:
    """The newest builds; updated while the page is open.

    Args:
        backend: API client of the signed-in user.
        path: the path of the endpoint, ``/endpoints/<name>``.
        state: ``materialization`` of the API's record.
    """
    box = ui.element("div").classes("pane")
    drawn: list[BuildRecord] | None = None

    async def show() -> None:
        nonlocal drawn
        reply = await backend.get(f"{path}/materialization_builds", limit=_MOST)
        builds: list[BuildRecord] | None = reply.body["results"] if reply.is_good else None
        if builds is not None and builds == drawn:
            return
        drawn = builds
        box.clear()
        with box:
            if builds is None:
                failed(reply)
            elif not builds:
                can = "Turn on Materialized above; builds of the table are listed here."
                cannot = f"The query cannot be materialized: {state.get('reason')}"
                empty("No builds yet", can if state["can_materialize"] else cannot, "history")
            else:
                _timeline(builds, backend.zone)
                _table(builds)

    await show()
    poll_while_visible(_AGAIN_SECONDS, show)


def _timeline(builds: list[BuildRecord], zone: str) -> None:
    options = timeline(builds, datetime.now(UTC), zone)
    with section(f"Duration of the last builds in seconds, times in {zone}"):
        ui.echart(options).classes("w-full").style("height: 12rem").mark("timeline")


def timeline(builds: list[BuildRecord], now: datetime, zone: str) -> ChartOptions:
    """Options for ECharts: a bar for each build, oldest first, colored by outcome."""
    newest = builds[:_BARS][::-1]
    options = chart_frame([exact_time(each["started_at"], zone)[5:16] for each in newest])
    options["yAxis"]["name"] = "s"
    options["grid"]["top"] = 28  # room for the unit
    options["series"] = [
        {
            "name": word.capitalize(),
            "type": "bar",
            "stack": "builds",
            "barMaxWidth": 24,
            "barMinHeight": 3,
            "itemStyle": {"color": TONES[tone]},
            "data": [
                round(_seconds(each, now), 2) if _state(each)[0] == word else None
                for each in newest
            ],
        }
        for word, tone in dict.fromkeys(map(_state, newest))
    ]
    return options


def _table(builds: list[BuildRecord]) -> None:
    columns = [
        column("started", "Started", "time"),
        column("state", "State", "badge"),
        column("seconds", "Seconds", "number"),
        column("version", "Version", "number"),
        column("error", "Error", "mono"),
    ]
    rows = [_row(each) for each in builds]
    DataTable("Builds", columns, rows).mark("builds")


def _row(build: BuildRecord) -> Row:
    state, tone = _state(build)
    return {
        "id": build["id"],
        "started": build["started_at"],
        "state": state,
        "state_tone": tone,
        "seconds": round(_seconds(build, datetime.now(UTC)), 2),
        "version": build["version"],
        "error": build["error"],
    }


def _state(build: BuildRecord) -> tuple[str, str]:
    return _UNCHANGED if build["is_unchanged"] else _STATES[build["status"]]


def _seconds(build: BuildRecord, now: datetime) -> float:
    ended = datetime.fromisoformat(build["ended_at"]) if build["ended_at"] else now
    return (ended - datetime.fromisoformat(build["started_at"])).total_seconds()

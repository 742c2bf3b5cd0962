"""The usage of an endpoint: figures of the last month and a chart by day."""

from typing import Any

from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.charts import metrics_chart, totals
from hoglet.console.widgets import empty, failed, legend

DAYS = 30


async def usage_panel(backend: Backend, path: str) -> None:
    """Runs, errors, durations and cache hits."""
    reply = await backend.get(f"{path}/usage", days=DAYS)
    if not reply.is_good:
        failed(reply)
        return
    usage: dict[str, Any] = reply.body
    if not usage["count"]:
        empty("No runs yet", f"Runs of the last {DAYS} days are counted here.", "bar_chart")
        return
    with ui.row().classes("w-full gap-8 pb-4").mark("usage"):
        for name, text in _figures(usage):
            with ui.column().classes("gap-0"):
                ui.label(text).classes("text-xl")
                ui.label(name).classes("text-sm opacity-70")
    series = _series(usage["days"])
    legend(totals(series))
    ui.echart(metrics_chart(series)).classes("w-full h-72")


def _figures(usage: dict[str, Any]) -> list[tuple[str, str]]:
    share = usage["cache_hit_share"]
    return [
        (f"runs in {DAYS} days", f"{usage['count']:,}"),
        ("errors", f"{usage['errors']:,}"),
        ("median", f"{usage['p50_ms']} ms"),
        ("p95", f"{usage['p95_ms']} ms"),
        ("from the cache", "–" if share is None else f"{share:.0%}"),
    ]


def _series(days: list[dict[str, Any]]) -> dict[str, Any]:
    good = [day["count"] - day["errors"] for day in days]
    return {
        "labels": [day["day"] for day in days],
        "series": [
            {"name": "succeeded", "values": good},
            {"name": "failed", "values": [day["errors"] for day in days]},
        ],
    }

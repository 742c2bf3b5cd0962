"""The dead letters of all functions, grouped by error, with redrive."""

import asyncio
import re

from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend
from hoglet.console.components.data_table import DataTable, column
from hoglet.console.components.polling import poll_while_visible
from hoglet.console.layout import BUILD_SECONDS, signed_in_page
from hoglet.console.records.functions import DeadLetterRecord
from hoglet.console.session import Sessions
from hoglet.console.widgets import confirm, empty, failed, heading

type Group = tuple[str, str]
"""Id of the function and pattern of the error."""

_PAGE = 500
_AT_ONCE = 4
_AGAIN_SECONDS = 10.0
_COUNT = re.compile(rb"^hoglet_dead_letters .*$", re.MULTILINE)
_VARYING = re.compile(
    r"(?P<status>\b(?:status(?: code)?|code|http(?:/[0-9.]+)?)\W{0,2}[1-5][0-9]{2}\b)"
    r"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"|\b[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+(?:Z|[+-][0-9:]+)?"
    r"|\b0x[0-9a-f]+|\b(?=[a-f]*[0-9])[0-9a-f]{12,}\b"
    r"|(?<![A-Za-z0-9_])[0-9]+(?:[.:,][0-9]+)*",
    re.IGNORECASE,
)
_WITH_LETTERS = (
    "SELECT DISTINCT app_source_id FROM app_metrics WHERE metric_name = 'dead_lettered' "
    "ORDER BY app_source_id LIMIT 1000"
)


def pattern_of(error: str) -> str:
    """An error without numbers, times and ids, which vary by run; HTTP statuses are kept.

    Example:
        >>> pattern_of("Row 12 of 0x7fa4, 2026-01-05T12:00:00Z: status 503")
        'Row … of …, …: status 503'
    """
    return _VARYING.sub(lambda match: match["status"] or "…", error)


def _shown_error(pattern: str, dead_letters: list[DeadLetterRecord]) -> str:
    """The error of a group; its pattern if the errors differ."""
    errors = {str(dead_letter["error"]) for dead_letter in dead_letters}
    return errors.pop() if len(errors) == 1 else pattern


def register(sessions: Sessions) -> None:
    """Add the page."""

    @ui.page(
        "/project/{project_id}/dead-letters",
        title="Dead letters · hoglet",
        response_timeout=BUILD_SECONDS,
    )
    async def dead_letters(request: Request, project_id: str) -> Response | None:
        async def build(backend: Backend) -> None:
            await _DeadLetters(backend).draw()

        return await signed_in_page(
            sessions, request, project_id, section="dead-letters", build=build
        )


class _DeadLetters:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._groups: dict[Group, list[DeadLetterRecord]] = {}
        self._is_cut = False

    async def draw(self) -> None:
        with ui.element("div").classes("toolbar"):
            heading(
                "Dead letters", "Failed runs, kept for a week. Fix the cause, then redrive them."
            )
            ui.space()
            self._button = ui.button("Redrive selected", icon="replay", on_click=self._redrive)
            self._button.set_enabled(False)
        self._box = ui.element("div").classes("pane")
        self._count = await self._counted()
        await self._show()
        poll_while_visible(_AGAIN_SECONDS, self._follow)

    async def _counted(self) -> list[bytes]:
        metrics = await self._backend.call("GET", "/metrics")
        return _COUNT.findall(metrics.text)

    async def _follow(self) -> None:
        """Reload the list when the count changes, unless groups are selected."""
        count = await self._counted()
        if count != self._count and not self._button.enabled:
            self._count = count
            await self._show()

    async def _show(self) -> None:
        self._box.clear()
        self._button.set_enabled(False)
        functions = await self._backend.get("/hog_functions", limit=1000)
        sources = await self._backend.hogql(_WITH_LETTERS)
        with self._box:
            for reply in (functions, sources):
                if not reply.is_good:
                    failed(reply)
                    return
        names = {each["id"]: each["name"] or "Untitled" for each in functions.body["results"]}
        ids = [source for (source,) in sources.body["results"] if source in names]
        await self._load(ids)
        with self._box:
            if self._is_cut:
                ui.label(f"Of each function, the newest {_PAGE} are counted here.").classes("muted")
            if self._groups:
                self._table(names)
            else:
                empty("Nothing failed", "Runs that cannot be retried appear here.", "done_all")

    async def _load(self, ids: list[str]) -> None:
        limit = asyncio.Semaphore(_AT_ONCE)

        async def dead_letters_of(function_id: str) -> list[DeadLetterRecord]:
            path = f"/hog_functions/{function_id}/dead_letters"
            async with limit:
                reply = await self._backend.get(path, limit=_PAGE, redriven="false")
            self._is_cut |= reply.is_good and bool(reply.body["next"])
            return reply.body["results"] if reply.is_good else []

        self._groups = {}
        self._is_cut = False
        groups = await asyncio.gather(*map(dead_letters_of, ids))
        for function_id, group in zip(ids, groups, strict=True):
            for dead_letter in group:
                key = (function_id, pattern_of(str(dead_letter["error"])))
                self._groups.setdefault(key, []).append(dead_letter)

    def _table(self, names: dict[str, str]) -> None:
        project = f"/project/{self._backend.project_id}"
        self._keys = list(self._groups)
        rows = [
            {
                "id": index,
                "function": names[function_id],
                "href": f"{project}/functions/{function_id}?tab=Failed",
                "error": _shown_error(pattern, dead_letters),
                "count": len(dead_letters),
                "events": ", ".join(
                    sorted({str(dead_letter["event"]) for dead_letter in dead_letters})[:5]
                ),
                "last": max(dead_letter["last_failed_at"] for dead_letter in dead_letters),
            }
            for index, ((function_id, pattern), dead_letters) in enumerate(self._groups.items())
        ]
        columns = [
            column("function", "Function", "link"),
            column("error", "Error", "mono"),
            column("count", "Runs", "number"),
            column("events", "Events"),
            column("last", "Last failed", "time"),
        ]
        self._rows = DataTable(
            "Dead letters", columns, rows, selectable=True, on_select=self._selected
        )

    def _selected(self, keys: list[int]) -> None:
        self._button.set_enabled(bool(keys))

    async def _redrive(self) -> None:
        chosen = [self._keys[index] for index in self._rows.selected]
        count = sum(len(self._groups[key]) for key in chosen)
        text = (
            f"{count} runs are queued again, with the current code and inputs of their functions."
        )
        if not await confirm("Redrive failed runs?", text, f"Redrive {count}"):
            return
        queued = 0
        progress = ui.notification("Queuing …", spinner=True, timeout=None)
        for function_id, pattern in chosen:
            ids = [dead_letter["id"] for dead_letter in self._groups[function_id, pattern]]
            path = f"/hog_functions/{function_id}/dead_letters/redrive"
            reply = await self._backend.send("POST", path, {"ids": ids})
            if not reply.is_good:
                ui.notify(reply.problem, type="negative", timeout=10_000)
                break
            queued += reply.body["queued"]
            progress.message = f"{queued} of {count} queued"
        progress.dismiss()
        ui.notify(f"{queued} queued again.", type="positive")
        await self._show()

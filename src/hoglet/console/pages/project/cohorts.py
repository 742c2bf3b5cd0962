"""The page of cohorts: sets of persons, by criteria or by a list."""

from collections.abc import Mapping
from typing import Any

import orjson
from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend
from hoglet.console.components.criteria_form import CriteriaForm
from hoglet.console.components.data_table import Row, column
from hoglet.console.components.record_page import RecordKind, RecordPage, RecordUser
from hoglet.console.components.used_by import endpoint_user
from hoglet.console.layout import BUILD_SECONDS, signed_in_page
from hoglet.console.records.project import CohortRecord, RequestBody
from hoglet.console.session import Sessions
from hoglet.console.suggestions import Suggestions
from hoglet.console.widgets import Text

_KINDS = {False: "By criteria, kept up to date", True: "A fixed list of persons"}


def register(sessions: Sessions) -> None:
    """Add the page."""

    @ui.page(
        "/project/{project_id}/cohorts", title="Cohorts · hoglet", response_timeout=BUILD_SECONDS
    )
    async def cohorts(request: Request, project_id: str) -> Response | None:
        async def build(backend: Backend) -> None:
            await RecordPage(backend, _COHORTS).draw()

        return await signed_in_page(sessions, request, project_id, section="cohorts", build=build)


def _row(cohort: CohortRecord) -> Row:
    state, tone = "ready", "ok"
    if cohort["is_calculating"]:
        state, tone = "calculating", "busy"
    elif cohort["errors_calculating"]:
        state, tone = "failed", "danger"
    return {
        "name": cohort["name"],
        "kind": cohort["cohort_type"].replace("_", " "),
        "count": cohort["count"],
        "state": state,
        "state_tone": tone,
        "calculated": cohort["last_calculation"],
    }


async def _users(backend: Backend, cohort: CohortRecord) -> list[RecordUser]:
    reply = await backend.get(f"/cohorts/{cohort['id']}/used_in")
    if not reply.is_good:
        return []
    project = f"/project/{backend.project_id}"
    users = reply.body
    return [
        *(
            RecordUser("cohort", each["name"], f"{project}/cohorts?open={each['id']}")
            for each in users["cohorts"]["results"]
        ),
        *(endpoint_user(backend, each["name"]) for each in users["endpoints"]["results"]),
        *(
            RecordUser("settings", each["name"], f"{project}/settings")
            for each in users["test_account_filters"]["results"]
        ),
    ]


async def _form(backend: Backend, cohort: CohortRecord | None) -> "_Form":
    suggestions = Suggestions(backend)
    await suggestions.load()
    return _Form(suggestions, cohort)


class _Form:
    def __init__(self, suggestions: Suggestions, cohort: CohortRecord | None) -> None:
        fields: Mapping[str, Any] = cohort or {
            "name": "",
            "description": "",
            "is_static": False,
            "filters": None,
        }
        self._cohort = cohort
        self._stored_query = fields.get("query")
        self._name = ui.input("Name", value=fields["name"]).props("outlined dense autofocus")
        self._description = ui.input("Description", value=fields["description"])
        self._description.props("outlined dense")
        self._kind = ui.select(
            _KINDS, value=fields["is_static"], label="Kind", on_change=self._switch
        )
        self._kind.props("outlined dense options-dense").set_enabled(cohort is None)
        self.fields: RequestBody = {
            "name": self._name,
            "description": self._description,
            "is_static": self._kind,
        }
        with ui.element("div").classes("pane") as self._criteria_box:
            self._criteria = CriteriaForm(suggestions, fields["filters"])
        self._ids = ui.textarea("Person ids, one per line").props("outlined dense")
        self.fields["_create_static_person_ids"] = self._ids
        for field in self.fields.values():
            field.classes("w-full")
        if self._stored_query:
            Text("h3", "Defined by this query")
            ui.label(orjson.dumps(self._stored_query).decode()).classes("font-mono break-all")
        self._switch()

    def body(self) -> RequestBody:
        body: RequestBody = {
            "name": self._name.value or "",
            "description": self._description.value or "",
        }
        if self._cohort is None:
            body["is_static"] = self._kind.value
            if self._kind.value:
                lines = (self._ids.value or "").split()
                return body | {"_create_static_person_ids": lines}
        if not self._kind.value and not self._stored_query:
            body["filters"] = self._criteria.value()
        return body

    def _switch(self) -> None:
        is_static = bool(self._kind.value)
        self._criteria_box.set_visibility(not is_static and not self._stored_query)
        self._ids.set_visibility(is_static and self._cohort is None)


_COHORTS = RecordKind(
    noun="cohort",
    title="Cohorts",
    note="Sets of persons that queries and filters refer to",
    icon="people",
    path="/cohorts",
    columns=[
        column("name", "Name"),
        column("kind", "Kind"),
        column("count", "Persons", "number"),
        column("state", "State", "badge"),
        column("calculated", "Calculated", "time"),
    ],
    row=_row,
    form=_form,
    users=_users,
    is_deleted_with_patch=True,
    on_delete="A cohort in use cannot be deleted.",
)

"""The page of integrations: stored credentials that functions use without seeing them."""

from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend
from hoglet.console.components.data_table import Row, column
from hoglet.console.components.record_page import RecordKind, RecordPage, RecordUser
from hoglet.console.components.used_by import functions_with
from hoglet.console.layout import BUILD_SECONDS, signed_in_page
from hoglet.console.records.functions import FunctionInputs, FunctionRecord
from hoglet.console.records.project import IntegrationRecord, RequestBody
from hoglet.console.session import Sessions
from hoglet.console.widgets import url_value

_TYPES = frozenset({"integration", "integration_multi"})


def register(sessions: Sessions) -> None:
    """Add the page."""

    @ui.page(
        "/project/{project_id}/integrations",
        title="Integrations · hoglet",
        response_timeout=BUILD_SECONDS,
    )
    async def integrations(request: Request, project_id: str) -> Response | None:
        async def build(backend: Backend) -> None:
            await RecordPage(backend, _INTEGRATIONS).draw()

        return await signed_in_page(
            sessions, request, project_id, section="integrations", build=build
        )


def _row(integration: IntegrationRecord) -> Row:
    return {
        "name": integration["display_name"],
        "kind": integration["kind"],
        "hosts": ", ".join(integration["hosts"] or []),
        "state": integration["errors"] or "usable",
        "state_tone": "danger" if integration["errors"] else "ok",
        "updated": integration["updated_at"],
    }


async def _users(backend: Backend, integration: IntegrationRecord) -> list[RecordUser]:
    def uses(function: FunctionRecord) -> bool:
        given: FunctionInputs = function.get("inputs") or {}
        keys = [
            item["key"] for item in function.get("inputs_schema") or () if item["type"] in _TYPES
        ]
        values = [(given.get(key) or {}).get("value") for key in keys]
        return any(
            integration["id"] in (value if isinstance(value, list) else [value]) for value in values
        )

    return await functions_with(backend, uses)


async def _form(_backend: Backend, integration: IntegrationRecord | None) -> "_Form":
    return _Form(integration)


class _Form:
    """The fields of an integration; ``?new=<kind>`` preselects the kind of a new one."""

    def __init__(self, integration: IntegrationRecord | None) -> None:
        stored = integration or {"kind": "", "display_name": "", "hosts": None}
        requested = url_value("new")
        kind = stored["kind"] or ("" if requested == "1" else requested)
        self._is_new = integration is None
        self._kind = ui.input("Kind", value=kind, placeholder="slack")
        self._kind.set_enabled(self._is_new)
        self._name = ui.input("Name", value=stored["display_name"])
        self._hosts = ui.input("Hosts that get the token", value=", ".join(stored["hosts"] or []))
        self._hosts.props["hint"] = (
            "Comma-separated, *.example.com for subdomains; if empty, the usual hosts of the kind"
        )
        self._token = ui.input("Token", password=True)
        if not self._is_new:
            self._token.props["hint"] = "stored; leave empty to keep it"
        self.fields: RequestBody = {
            "kind": self._kind,
            "display_name": self._name,
            "hosts": self._hosts,
            "access_token": self._token,
        }
        for field in self.fields.values():
            field.props("outlined dense stack-label").classes("w-full")

    def body(self) -> RequestBody:
        hosts = [part.strip() for part in (self._hosts.value or "").split(",") if part.strip()]
        body: RequestBody = {"display_name": self._name.value or None, "hosts": hosts or None}
        if self._is_new:
            body["kind"] = (self._kind.value or "").strip()
        if self._token.value:
            body["access_token"] = self._token.value
        return body


_INTEGRATIONS = RecordKind(
    noun="integration",
    title="Integrations",
    note="Credentials that functions use without seeing them",
    icon="key",
    path="/integrations",
    columns=[
        column("name", "Name"),
        column("kind", "Kind"),
        column("hosts", "Hosts"),
        column("state", "State", "badge"),
        column("updated", "Updated", "time"),
    ],
    row=_row,
    form=_form,
    users=_users,
    is_deleted_with_patch=False,
    on_delete="Their runs fail until they use another one.",
)

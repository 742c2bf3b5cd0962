"""The page of variables: named values in queries, supplied by callers of an endpoint."""

from collections.abc import Mapping
from typing import Any

import orjson
from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.schemas import code_name
from hoglet.console.api_client import Backend
from hoglet.console.components.data_table import Row, column
from hoglet.console.components.record_page import RecordKind, RecordPage, RecordUser
from hoglet.console.components.used_by import endpoints_with
from hoglet.console.layout import BUILD_SECONDS, signed_in_page
from hoglet.console.records.endpoints import VariableRecord
from hoglet.console.records.project import RequestBody, StoredQuery
from hoglet.console.session import Sessions

_TYPES = ["String", "Number", "Boolean", "List", "Date"]
_BOOLEANS = {"true": True, "false": False}


def register(sessions: Sessions) -> None:
    """Add the page."""

    @ui.page(
        "/project/{project_id}/variables",
        title="Variables · hoglet",
        response_timeout=BUILD_SECONDS,
    )
    async def variables(request: Request, project_id: str) -> Response | None:
        async def build(backend: Backend) -> None:
            await RecordPage(backend, _VARIABLES).draw()

        return await signed_in_page(sessions, request, project_id, section="variables", build=build)


def default_value(kind: str, text: str) -> Any:
    """A default as typed into the form; None for an empty text.

    Raises:
        ValueError: the text is not a value of the type.

    Example:
        >>> [default_value("Number", "1.50"), default_value("Boolean", "True")]
        [1.5, True]
    """
    if not text:
        return None
    if kind == "Boolean":
        if text.lower() not in _BOOLEANS:
            raise ValueError("The default value of a Boolean variable is true or false.")
        return _BOOLEANS[text.lower()]
    if kind != "Number":
        return text
    try:
        number = orjson.loads(text)
    except orjson.JSONDecodeError:
        number = None
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise ValueError(f'The default value "{text}" is not a number.')  # noqa: TRY004 (of a form, not of a caller)
    return number


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return orjson.dumps(value).decode()


def _row(variable: VariableRecord) -> Row:
    return {
        "name": variable["name"],
        "code": f"{{variables.{variable['code_name']}}}",
        "type": variable["type"],
        "default": _text(variable["default_value"]),
        "created": variable["created_at"],
    }


async def _users(backend: Backend, variable: VariableRecord) -> list[RecordUser]:
    def uses(query: StoredQuery) -> bool:
        return variable["id"] in (query.get("variables") or {})

    return await endpoints_with(backend, uses)


async def _form(_backend: Backend, variable: VariableRecord | None) -> "_Form":
    return _Form(variable)


class _Form:
    def __init__(self, variable: VariableRecord | None) -> None:
        fields: Mapping[str, Any] = variable or {
            "name": "",
            "type": "String",
            "default_value": None,
            "values": None,
        }
        self._name = ui.input("Name", value=fields["name"]).classes("w-full")
        self._name.props("outlined dense autofocus")
        if variable is None:
            self._name.on_value_change(self._show_code)
            self._show_code()
        else:
            ui.label(f"Queries refer to it as {{variables.{variable['code_name']}}}.").classes(
                "muted"
            )
        self._type = ui.select(_TYPES, value=fields["type"], label="Type", on_change=self._retype)
        self._type.props("outlined dense options-dense").classes("w-full")
        self._default = ui.input("Default value", value=_text(fields["default_value"]))
        self._values = ui.textarea("Choices, one per line", value=_lines(fields["values"]))
        self._is_multi = ui.switch("Several choices at once", value=fields.get("is_multi") or False)
        for field in (self._default, self._values):
            field.props("outlined dense").classes("w-full")
        self.fields: RequestBody = {
            "name": self._name,
            "type": self._type,
            "default_value": self._default,
            "values": self._values,
        }
        self._retype()

    def _show_code(self) -> None:
        code = code_name(self._name.value or "") or "plan_name"
        self._name.props["hint"] = f"Queries refer to it as {{variables.{code}}}"

    def body(self) -> RequestBody:
        is_list = self._type.value == "List"
        body: RequestBody = {
            "name": self._name.value or "",
            "type": self._type.value,
            "default_value": self._default_value(),
            "is_multi": is_list and self._is_multi.value,
        }
        if is_list:
            lines = (self._values.value or "").splitlines()
            body["values"] = [line.strip() for line in lines if line.strip()]
        return body

    def _default_value(self) -> Any:
        text = (self._default.value or "").strip()
        if self._type.value == "List" and self._is_multi.value and text.startswith("["):
            return orjson.loads(text)
        return default_value(str(self._type.value), text)

    def _retype(self) -> None:
        for field in (self._values, self._is_multi):
            field.set_visibility(self._type.value == "List")


def _lines(values: list[Any] | None) -> str:
    return "\n".join(_text(value) for value in values or [])


_VARIABLES = RecordKind(
    noun="variable",
    title="Variables",
    note="Values that queries use and callers of an endpoint supply",
    icon="input",
    path="/insight_variables",
    columns=[
        column("name", "Name"),
        column("code", "In a query", "mono"),
        column("type", "Type"),
        column("default", "Default"),
        column("created", "Created", "time"),
    ],
    row=_row,
    form=_form,
    users=_users,
    is_deleted_with_patch=False,
    on_delete="Their stored queries keep their current values.",
)

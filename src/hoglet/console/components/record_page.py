"""A page that lists records of one kind, with a form, the users and a delete button for each.

``?open=<id>`` opens the form of a record, ``?new=<text>`` the form of a new one.
"""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, Protocol

import msgspec
from nicegui import ui

from hoglet.console.api_client import Backend, Reply
from hoglet.console.components.data_table import DataTable, Row
from hoglet.console.components.form_dialog import FormDialog
from hoglet.console.records.project import ListedRecord, RequestBody
from hoglet.console.widgets import (
    Link,
    Text,
    confirm,
    empty,
    failed,
    heading,
    notify,
    search_input,
    set_url_values,
    url_value,
)
from hoglet.kit.json import same_json

MOST = 500
_SHOWN_USERS = 20


class RecordUser(NamedTuple):
    """What uses a record: ``("function", "To Slack", "/project/1/functions/…")``."""

    kind: str
    name: str
    href: str


class RecordForm(Protocol):
    """The fields of a record; renders them when it is created."""

    fields: RequestBody
    """The fields by the key in API errors."""

    def body(self) -> RequestBody:
        """The body of the request.

        Raises:
            ValueError: a field is invalid; the text is for display.
        """
        ...


class RecordKind(msgspec.Struct, frozen=True):
    """What a page lists.

    Args:
        noun: singular name of the records, ``cohort``.
        title: the title of the page.
        note: what such records are for.
        icon: the icon of the empty state.
        path: the path of the API, ``/cohorts``.
        columns: the columns of the table; the first one names the record.
        row: a record as a row of the table; the page adds ``id`` and ``delete``.
        form: renders the form of a record, or of a new one if None.
        users: what uses a record.
        is_deleted_with_patch: whether a PATCH of ``{"deleted": true}`` replaces DELETE.
        on_delete: what happens to users of a deleted record.
    """

    noun: str
    title: str
    note: str
    icon: str
    path: str
    columns: list[dict[str, str]]
    row: Callable[[ListedRecord], Row]
    form: Callable[[Backend, ListedRecord | None], Awaitable[RecordForm]]
    users: Callable[[Backend, ListedRecord], Awaitable[list[RecordUser]]]
    is_deleted_with_patch: bool
    on_delete: str


class RecordPage:
    """Renders the page of a subject.

    Args:
        backend: API client of the signed-in user.
        subject: what is listed.
    """

    def __init__(self, backend: Backend, subject: RecordKind) -> None:
        self._backend = backend
        self._subject = subject
        self._records: dict[str, ListedRecord] = {}
        self._rows: DataTable | None = None

    async def draw(self) -> None:
        """Render the list, and open the form that the URL names."""
        subject = self._subject
        with ui.element("div").classes("toolbar"):
            heading(subject.title, subject.note)
            ui.space()
            self._search = search_input(f"Search {subject.title.lower()}", url_value("search"))
            ui.button(f"New {subject.noun}", icon="add", on_click=self._new)
        self._search.on_value_change(self._filter)
        self._box = ui.element("div").classes("pane")
        await self._load()
        record = self._records.get(url_value("open"))
        if record is not None or url_value("new"):
            ui.timer(0, lambda: self._edit(record), once=True)

    async def _load(self) -> None:
        reply = await self._backend.get(self._subject.path, limit=MOST)
        if not reply.is_good:
            self._box.clear()
            with self._box:
                failed(reply)
            return
        self._records = {str(each["id"]): each for each in reply.body["results"]}
        self._show(has_more=bool(reply.body["next"]))

    def _filter(self) -> None:
        set_url_values(search=self._search.value)
        self._show(has_more=False)

    def _show(self, *, has_more: bool) -> None:
        search = (self._search.value or "").lower()
        rows = [
            {**self._subject.row(record), "id": key, "delete": "Delete"}
            for key, record in self._records.items()
        ]
        name = self._subject.columns[0]["key"]
        rows = [row for row in rows if search in str(row[name]).lower()]
        if rows and self._rows is not None and not has_more:
            self._rows.set_rows(rows)  # keep the table, so that the focus stays
            return
        self._rows = None
        self._box.clear()
        with self._box:
            if rows:
                self._table(rows)
            elif self._records:
                empty("Nothing found", f"No {self._subject.noun} matches the search.", "search_off")
            else:
                with empty(f"No {self._subject.title.lower()} yet", *self._hint()):
                    ui.button(f"Create the first {self._subject.noun}", on_click=self._new)
            if has_more:
                ui.label(f"The first {MOST} are shown.").classes("muted")

    def _hint(self) -> tuple[str, str]:
        return f"{self._subject.note}.", self._subject.icon

    def _table(self, rows: list[Row]) -> None:
        columns = [*self._subject.columns, {"key": "delete", "label": "", "kind": "button"}]
        self._rows = DataTable(
            self._subject.title, columns, rows, on_row=self._open, on_action=self._confirm_delete
        )

    async def _open(self, key: str) -> None:
        await self._edit(self._records[key])

    async def _new(self) -> None:
        await self._edit(None)

    async def _edit(self, record: ListedRecord | None) -> None:
        if record is not None:
            set_url_values(open=str(record["id"]))
            newest = await self._backend.get(f"{self._subject.path}/{record['id']}")
            record = newest.body if newest.is_good else record
        title = f"Edit {self._subject.noun}" if record else f"New {self._subject.noun}"
        dialog = FormDialog(title, "Save" if record else "Create", wide=True)
        with dialog.fields():
            form = await self._subject.form(self._backend, record)
            if record is not None:
                _listed(await self._subject.users(self._backend, record))

        path = self._subject.path
        edited = None if record is None else _EditedRecord(self._backend, path, record)

        async def send() -> Reply:
            if edited is None:
                return await self._backend.send("POST", path, form.body())
            return await edited.save(form.body())

        await dialog.answered(send, form.fields)
        set_url_values(open=None, new=None)
        await self._load()

    async def _confirm_delete(self, key: str, _column: str, _value: Any) -> None:
        record, subject = self._records[key], self._subject
        users = await subject.users(self._backend, record)
        name = self._subject.row(record)[subject.columns[0]["key"]]
        if not await confirm(f"Delete {name}?", _consequence(users, subject.on_delete), "Delete"):
            return
        path = f"{subject.path}/{key}"
        if subject.is_deleted_with_patch:
            reply = await self._backend.send("PATCH", path, {"deleted": True})
        else:
            reply = await self._backend.send("DELETE", path, None)
        notify(reply, "Deleted.")
        await self._load()


class _EditedRecord:
    """A record in a form; saving does not overwrite concurrent changes by others.

    These records have no version in the API, so the fields to be sent are compared.
    """

    def __init__(self, backend: Backend, path: str, record: ListedRecord) -> None:
        self._backend = backend
        self._path = f"{path}/{record['id']}"
        self._seen = record

    async def save(self, body: RequestBody) -> Reply:
        """Send the fields; saving again after the warning overwrites.

        Raises:
            ValueError: a field was changed since the form was opened; the text is for display.
        """
        newest = await self._backend.get(self._path)
        if newest.is_good:
            before, self._seen = self._seen, newest.body
            changed = [key for key in body if not same_json(before.get(key), newest.body.get(key))]
            if changed:
                fields = ", ".join(key.replace("_", " ") for key in changed)
                raise ValueError(
                    f"Changed elsewhere in the meantime: {fields}. Save again to overwrite."
                )
        return await self._backend.send("PATCH", self._path, body)


def _consequence(users: list[RecordUser], on_delete: str) -> str:
    if not users:
        return "Nothing uses it."
    return f"Used by {', '.join(f'{each.kind} {each.name}' for each in users)}. {on_delete}"


def _listed(users: list[RecordUser]) -> None:
    with ui.element("section").classes("pane"):
        Text("h3", "Used by")
        if not users:
            ui.label("Nothing uses it.").classes("muted")
        for user in users[:_SHOWN_USERS]:
            with ui.row().classes("gap-2"):
                Text("span", user.kind).classes("muted")
                Link(user.name, user.href)
        if len(users) > _SHOWN_USERS:
            ui.label(f"and {len(users) - _SHOWN_USERS} more").classes("muted")

"""The page that creates a function: a gallery of templates, then the form of the chosen one.

``?template=<id>`` and ``?blank=<type>`` open the form; ``?search=`` and ``?type=`` filter the
gallery.

Source: docs/spec/hog-functions.md#11-templates.
"""

from collections.abc import Sequence
from urllib.parse import urlencode

from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend, Reply
from hoglet.console.components.data_table import Row
from hoglet.console.components.save_warnings import open_with_warnings
from hoglet.console.inputs_form import InputsForm, NotJson, stored_integrations
from hoglet.console.layout import BUILD_SECONDS, signed_in_page
from hoglet.console.pages.functions.new_function import BLANKS, Beginning, beginnings, needs_of
from hoglet.console.records.project import IntegrationRecord
from hoglet.console.session import Sessions
from hoglet.console.widgets import (
    Link,
    Text,
    empty,
    failed,
    heading,
    search_input,
    section,
    set_url_values,
    submit_button,
    url_value,
)
from hoglet.kit.json import JsonObject

_ALL = {"": "All types"} | {blank.type: blank.plural for blank in BLANKS}


def register(sessions: Sessions) -> None:
    """Add the page; register it before the page of one function."""

    @ui.page(
        "/project/{project_id}/functions/new",
        title="New function · hoglet",
        response_timeout=BUILD_SECONDS,
    )
    async def new_function(request: Request, project_id: str) -> Response | None:
        return await signed_in_page(
            sessions, request, project_id, section="functions", build=_build
        )


async def _build(backend: Backend) -> None:
    offered = await beginnings(backend)
    if isinstance(offered, Reply):
        failed(offered)
        return
    chosen = _chosen(offered)
    if chosen is None:
        _Gallery(backend, offered).draw()
    else:
        await _NewFunction(backend, chosen).draw()


def _chosen(offered: Sequence[Beginning]) -> Beginning | None:
    keys = ("blank", url_value("blank")), ("template", url_value("template"))
    return next((each for each in offered if (each.parameter, each.key) in keys), None)


class _Gallery:
    def __init__(self, backend: Backend, offered: Sequence[Beginning]) -> None:
        self._path = f"/project/{backend.project_id}/functions/new"
        self._offered = offered

    def draw(self) -> None:
        with ui.element("div").classes("toolbar"):
            heading("New function", "Start from a template or a blank function")
            ui.space()
            self._search = search_input("Search templates", url_value("search"))
            chosen = url_value("type")
            self._type = ui.select(_ALL, value=chosen if chosen in _ALL else "")
            self._type.props('dense outlined options-dense aria-label="Type"')
        self._search.on_value_change(self._filter)
        self._type.on_value_change(self._filter)
        self._box = ui.element("div").classes("pane")
        self._show()

    def _filter(self) -> None:
        set_url_values(search=self._search.value, type=self._type.value)
        self._show()

    def _show(self) -> None:
        matching = [
            each
            for each in self._offered
            if each.matches(self._search.value or "", self._type.value)
        ]
        self._box.clear()
        with self._box:
            self._cards("Templates", [each for each in matching if each.parameter == "template"])
            self._cards("Blank", [each for each in matching if each.parameter == "blank"])
            if not matching:
                empty("Nothing found", "No template matches the search.", "search_off")

    def _cards(self, title: str, beginnings: Sequence[Beginning]) -> None:
        if not beginnings:
            return
        with section(title), ui.element("ul").classes("grid gallery"):
            for each in beginnings:
                with ui.element("li").classes("card"):
                    self._card(each)

    def _card(self, beginning: Beginning) -> None:
        with ui.row().classes("items-center gap-2 no-wrap"):
            _icon(beginning)
            query = urlencode({beginning.parameter: beginning.key})
            Link(beginning.name, f"{self._path}?{query}").classes("font-medium")
        ui.label(beginning.type.replace("_", " ")).classes("text-xs muted")
        ui.label(beginning.description).classes("text-sm")
        if beginning.needs:
            ui.label(f"Needs: {', '.join(beginning.needs)}").classes("text-sm muted")


def _icon(beginning: Beginning) -> None:
    if beginning.icon_url is None:
        ui.icon("code").classes("text-xl")
        return
    image = ui.element("img").props('alt="" width="24" height="24"')
    image.props["src"] = beginning.icon_url


class _NewFunction:
    """The form of a template or of a blank function."""

    def __init__(self, backend: Backend, beginning: Beginning) -> None:
        self._backend = backend
        self._beginning = beginning

    async def draw(self) -> None:
        beginning = self._beginning
        with ui.row().classes("items-center gap-2 no-wrap"):
            _icon(beginning)
            heading(beginning.name, beginning.description)
        Link("All templates", f"/project/{self._backend.project_id}/functions/new")
        integrations = await stored_integrations(self._backend)
        with ui.element("div").classes("card max-w-3xl").props("data-form"):
            placeholder = "" if beginning.parameter == "blank" else beginning.name
            self._name = ui.input("Function name", placeholder=placeholder)
            self._name.props("outlined dense stack-label").classes("w-full")
            self._missing_integrations(integrations)
            self._form = InputsForm(beginning.inputs_schema, {}, integrations)
            self._chosen = self._mappings()
            self._problem = ui.label().classes("field-error").props("role=alert")
            ui.label("The function is created disabled.").classes("text-sm muted")
            button = submit_button("Create", self._create, icon="add")
            button.style("align-self: flex-start")

    def _missing_integrations(self, integrations: list[IntegrationRecord]) -> None:
        stored = {each["kind"] for each in integrations}
        for need in needs_of(self._beginning.inputs_schema):
            if need.integration is not None and need.integration not in stored:
                with ui.element("div").classes("notice"), ui.row().classes("gap-1"):
                    Text("span", f"No {need.integration} integration is stored yet.")
                    path = f"/project/{self._backend.project_id}/integrations"
                    Link("Add one", f"{path}?{urlencode({'new': need.integration})}")

    def _mappings(self) -> list[tuple[Row, ui.switch]]:
        """Render a switch for each mapping of the template."""
        if self._beginning.mappings:
            Text("h2", "Mappings")
            ui.label("The function runs once for each mapping that matches.").classes("muted")
        return [
            (each, ui.switch(each["name"], value=bool(each.get("include_by_default"))))
            for each in self._beginning.mappings
        ]

    async def _create(self) -> bool:
        self._form.clear_problems()
        self._problem.set_text("")
        try:
            inputs = self._form.inputs()
        except NotJson as problem:
            self._problem.set_text(str(problem))
            return False
        mappings = [mapping for mapping, is_chosen in self._chosen if is_chosen.value]
        body = self._beginning.body(self._name.value or "", inputs, mappings)
        reply = await self._backend.send("POST", "/hog_functions", body)
        if reply.is_good:
            path = f"/project/{self._backend.project_id}/functions/{reply.body['id']}"
            open_with_warnings(path, reply.body)
        elif not self._form.show_problem(*_place_of(reply.body)):
            self._problem.set_text(reply.problem)
        return reply.is_good


def _place_of(body: JsonObject | None) -> tuple[str, str]:
    """The input that an error refers to ("" for none), and the error's text."""
    attr = str((body or {}).get("attr") or "")
    name = attr.split("__")[1] if attr.startswith("inputs__") else ""
    return name, str((body or {}).get("detail") or "")

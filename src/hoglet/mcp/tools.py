"""The tools that every project has: each makes one request to the API with the caller's key.

The route enforces its scopes, rate limits and budgets and defines the errors.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal, NotRequired, TypedDict
from urllib.parse import urlencode
from uuid import UUID

import msgspec
import orjson
from pydantic import Field

from hoglet.access.principals import Principal
from hoglet.kit.json import JsonObject, is_object
from hoglet.kit.suggestions import near
from hoglet.web.in_process_client import ApiRequest, ApiResponse
from hoglet.web.validation import Body, Text, Whole

READ_ONLY = {"readOnlyHint": True, "openWorldHint": False}
_MAX_TEXT_CHARACTERS = 200_000  # more would not fit into a model's context


type Json = JsonObject
"""An object of arguments; clients see this name in the schemas."""

type ToolReply = JsonObject
"""The part of a response that the model gets: the keys that are useful to it."""


class ToolDefinition(TypedDict):
    """An entry of ``tools/list``; ``inputSchema`` is the JSON schema of the arguments."""

    name: str
    description: str
    inputSchema: JsonObject
    annotations: dict[str, bool]


class ToolText(TypedDict):
    """A part of a result."""

    type: Literal["text"]
    text: str


class ToolResult(TypedDict):
    """The result of a call; an error is text for the model, too."""

    content: list[ToolText]
    isError: bool
    structuredContent: NotRequired[JsonObject]


class Arguments(Body, extra="forbid"):
    """Base of the arguments of a tool: unknown names are refused."""


class QueryArguments(Arguments):
    """A query."""

    query: Annotated[Text, Field(min_length=1, description="HogQL, e.g. SELECT 1.")]


class SchemaArguments(Arguments):
    """A table, or all."""

    table: Annotated[Text | None, Field(description="Name of a table; omit for all names.")] = None


class TaxonomyRequest(Arguments):
    """What to list; the other arguments depend on it."""

    kind: Literal[
        "events",
        "event_properties",
        "entity_properties",
        "event_property_values",
        "entity_property_values",
    ]
    event_name: Annotated[Text | None, Field(description="For event_… kinds.")] = None
    entity: Annotated[
        Text | None, Field(description="person, session or a group type; for entity_… kinds.")
    ] = None
    property_name: Annotated[Text | None, Field(description="For …_values kinds.")] = None


class EventArguments(Arguments):
    """Which events."""

    event: Annotated[Text | None, Field(description="Name of the events.")] = None
    after: Annotated[Text | None, Field(description="ISO 8601 time; defaults to 24 hours ago.")] = (
        None
    )
    before: Annotated[Text | None, Field(description="ISO 8601 time.")] = None
    limit: Annotated[Whole, Field(ge=1, le=100)] = 20


class FunctionListArguments(Arguments):
    """Which functions."""

    search: Annotated[Text | None, Field(description="Part of name or description.")] = None
    limit: Annotated[Whole, Field(ge=1, le=100)] = 50
    offset: Annotated[Whole, Field(ge=0)] = 0


class FunctionArguments(Arguments):
    """A function."""

    function_id: UUID


class LogArguments(FunctionArguments):
    """Which log lines."""

    level: Annotated[
        Text | None, Field(description="Comma-separated list of DEBUG, LOG, INFO, WARN, ERROR.")
    ] = None
    search: Text | None = None
    limit: Annotated[Whole, Field(ge=1, le=500)] = 50


class TestArguments(FunctionArguments):
    """An example event for a function."""

    __test__ = False

    event: Annotated[
        Json,
        Field(description='e.g. {"event": "paid", "distinct_id": "ada", "properties": {}}.'),
    ]
    person: Annotated[
        Json | None, Field(description='e.g. {"properties": {"email": "ada@example.org"}}.')
    ] = None
    draft: Annotated[bool, Field(description="Test the draft instead of the live version.")] = False


class UnreadableReply(Exception):
    """A tool's own error, found in a successful response; the text describes it."""


class Tool(msgspec.Struct, frozen=True):
    """A tool.

    ``request`` builds the API request: method, path below the project, query and body. ``reply``
    extracts from the response's body what the model gets.
    """

    name: str
    description: str
    scope: str
    arguments: type[Arguments]
    request: Callable[[Any], ApiRequest]
    reply: Callable[[Any, Any], Any] = lambda _arguments, body: body

    def definition(self) -> ToolDefinition:
        """The entry of ``tools/list``."""
        schema = self.arguments.model_json_schema()
        schema.pop("description", None)
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": schema,
            "annotations": READ_ONLY,
        }


def usable_tools(principal: Principal) -> list[Tool]:
    """The tools that a caller can use; secret keys and tenant tokens can only run endpoints."""
    if principal.kind != "personal":
        return []
    return [tool for tool in TOOLS.values() if principal.may(tool.scope)]


def text_result(value: Any, *, is_error: bool = False) -> ToolResult:
    """Build a tool's result: text, and for objects also ``structuredContent``."""
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    if len(text) > _MAX_TEXT_CHARACTERS:
        return _too_long(len(text))
    result: ToolResult = {"content": [{"type": "text", "text": text}], "isError": is_error}
    if is_object(value) and not is_error:
        result["structuredContent"] = value
    return result


def _too_long(characters: int) -> ToolResult:
    detail = (
        f"The result has {characters} characters, more than {_MAX_TEXT_CHARACTERS}. "
        "Ask for fewer rows or columns, or a smaller limit."
    )
    return text_result(detail, is_error=True)


def error_result(response: ApiResponse) -> ToolResult:
    """Build the result for an error of the API, e.g. ``404 not_found: Not found.``."""
    body: JsonObject = response.body if is_object(response.body) else {}
    about = f"{body['attr']}: " if body.get("attr") else ""
    detail = body.get("detail") or "The request failed."
    code = body.get("code") or "error"
    return text_result(f"{response.status} {code}: {about}{detail}", is_error=True)


def _get(path: str, **query: Any) -> ApiRequest:
    given = {name: value for name, value in query.items() if value is not None}
    return ApiRequest("GET", path, urlencode(given))


def _query(given: QueryArguments) -> ApiRequest:
    return ApiRequest("POST", "/mcp_tools/execute_sql", body={"args": {"query": given.query}})


def _text_reply(_given: Any, body: Any) -> str:
    if not body["success"]:
        raise UnreadableReply(body["content"])
    return body["content"]


def _schema(_given: SchemaArguments) -> ApiRequest:
    return ApiRequest("POST", "/query", body={"query": {"kind": "DatabaseSchemaQuery"}})


def _schema_reply(given: SchemaArguments, body: Any) -> ToolReply:
    tables: dict[str, Any] = body["tables"]
    if given.table is None:
        return {"tables": sorted(tables)}
    table = tables.get(given.table)
    if table is None:
        raise UnreadableReply(f"There is no table {given.table}.{near(given.table, tables)}")
    fields: dict[str, Any] = table["fields"]
    return {"table": given.table, "fields": {name: each["type"] for name, each in fields.items()}}


def _taxonomy(given: TaxonomyRequest) -> ApiRequest:
    query = given.model_dump(exclude_none=True)
    return ApiRequest("POST", "/mcp_tools/read_taxonomy", body={"args": {"query": query}})


def _events(given: EventArguments) -> ApiRequest:
    return _get("/events", include_person="false", **given.model_dump())


def _events_reply(_given: Any, body: Any) -> ToolReply:
    names = ("id", "event", "timestamp", "distinct_id", "properties")
    return {"events": [{name: each[name] for name in names} for each in body["results"]]}


def _functions(given: FunctionListArguments) -> ApiRequest:
    return _get("/hog_functions", **given.model_dump())


def _functions_reply(_given: Any, body: Any) -> ToolReply:
    names = ("id", "type", "name", "description", "enabled", "status")
    items = [{name: each.get(name) for name in names} for each in body["results"]]
    return {"count": body["count"], "functions": items}


def _function(given: FunctionArguments) -> ApiRequest:
    return _get(f"/hog_functions/{given.function_id}")


def _function_reply(_given: Any, body: Any) -> ToolReply:
    return {name: value for name, value in body.items() if name not in _LONG_FIELDS}


_LONG_FIELDS = frozenset({"bytecode", "transpiled", "template", "inputs_bytecode"})


def _logs(given: LogArguments) -> ApiRequest:
    query = given.model_dump(exclude={"function_id"})
    return _get(f"/hog_functions/{given.function_id}/logs", **query)


def _logs_reply(_given: Any, body: Any) -> ToolReply:
    names = ("timestamp", "level", "message", "instance_id")
    return {"logs": [{name: each[name] for name in names} for each in body["results"]]}


def _test(given: TestArguments) -> ApiRequest:
    values = {"event": given.event} | ({} if given.person is None else {"person": given.person})
    body = {"globals": values, "draft": given.draft, "mock_async_functions": True}
    return ApiRequest("POST", f"/hog_functions/{given.function_id}/invocations", body=body)


TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "query",
            "Run a HogQL query and read its result as a text table of at most 200 rows.",
            "query:read",
            QueryArguments,
            _query,
            _text_reply,
        ),
        Tool(
            "get_schema",
            "List the tables of HogQL, or the fields of one with their types.",
            "query:read",
            SchemaArguments,
            _schema,
            _schema_reply,
        ),
        Tool(
            "read_taxonomy",
            "List the project's events, their properties, or sample values of a property.",
            "query:read",
            TaxonomyRequest,
            _taxonomy,
            _text_reply,
        ),
        Tool(
            "list_events",
            "List recent events with their properties, newest first.",
            "query:read",
            EventArguments,
            _events,
            _events_reply,
        ),
        Tool(
            "list_functions",
            "List hog functions with their state.",
            "hog_function:read",
            FunctionListArguments,
            _functions,
            _functions_reply,
        ),
        Tool(
            "get_function",
            "Get a hog function: code, filters, inputs (secrets are hidden), state and draft.",
            "hog_function:read",
            FunctionArguments,
            _function,
            _function_reply,
        ),
        Tool(
            "list_function_logs",
            "List log lines of a hog function, newest first.",
            "hog_function:read",
            LogArguments,
            _logs,
            _logs_reply,
        ),
        Tool(
            "test_function",
            "Run a hog function on an example event; its requests are not sent; each gets a 200 "
            "response.",
            "hog_function:write",
            TestArguments,
            _test,
        ),
    )
}

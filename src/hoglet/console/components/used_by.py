"""Which functions and endpoints use a record of another kind."""

import asyncio
from collections.abc import Callable, Iterator
from urllib.parse import quote

from hoglet.console.api_client import Backend
from hoglet.console.components.record_page import RecordUser
from hoglet.console.records.endpoints import EndpointRecord
from hoglet.console.records.functions import EditedFilters, FunctionRecord
from hoglet.console.records.project import StoredQuery

_MOST = 1000
_AT_ONCE = 4


async def functions_with(
    backend: Backend, uses: Callable[[FunctionRecord], bool]
) -> list[RecordUser]:
    """The functions that ``uses`` selects; each is read in full, since lists lack the inputs."""
    reply = await backend.get("/hog_functions", limit=_MOST)
    listed: list[FunctionRecord] = reply.body["results"] if reply.is_good else []
    limit = asyncio.Semaphore(_AT_ONCE)

    async def whole(function: FunctionRecord) -> FunctionRecord:
        async with limit:
            reply = await backend.get(f"/hog_functions/{function['id']}")
        return reply.body if reply.is_good else function

    functions = await asyncio.gather(*map(whole, listed))
    return [
        RecordUser(
            "function",
            function["name"] or "Untitled",
            f"/project/{backend.project_id}/functions/{function['id']}",
        )
        for function in functions
        if uses(function)
    ]


async def endpoints_with(backend: Backend, uses: Callable[[StoredQuery], bool]) -> list[RecordUser]:
    """The endpoints whose current query ``uses`` selects."""
    reply = await backend.get("/endpoints", limit=_MOST)
    listed: list[EndpointRecord] = reply.body["results"] if reply.is_good else []
    return [endpoint_user(backend, each["name"]) for each in listed if uses(each["query"])]


def endpoint_user(backend: Backend, name: str) -> RecordUser:
    """An endpoint as a user, with a link to its page."""
    return RecordUser("endpoint", name, f"/project/{backend.project_id}/endpoints/{quote(name)}")


def filters_of(function: FunctionRecord) -> Iterator[EditedFilters]:
    """The filters of a function and of its mappings."""
    for owner in (function, *(function.get("mappings") or ())):
        if owner.get("filters"):
            yield owner["filters"]

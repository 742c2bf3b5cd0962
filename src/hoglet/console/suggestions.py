"""Names and values seen in the project's data, for the fields of forms."""

from typing import Any

from hoglet.console.api_client import Backend

_SUGGESTIONS = 500


class Suggestions:
    """Names and values seen in the project's data; loaded once for a page.

    Args:
        backend: API client of the signed-in user.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.events: list[str] = []
        self.properties: dict[str, list[str]] = {"event": [], "person": []}
        self.actions: dict[str, str] = {}

    async def load(self) -> None:
        """Load the names; suggestions that the key cannot read are empty."""
        self.events = await self._names("/event_definitions")
        for kind in self.properties:
            self.properties[kind] = await self._names("/property_definitions", type=kind)
        reply = await self._backend.get("/actions", limit=_SUGGESTIONS)
        for action in reply.body["results"] if reply.is_good else []:
            self.actions[str(action["id"])] = action["name"]

    async def values(self, kind: str, key: str) -> list[str]:
        """The most frequent values of a property."""
        if not key:
            return []
        path = "/persons/values" if kind == "person" else "/events/values"
        reply = await self._backend.get(path, key=key)
        entries = reply.body if isinstance(reply.body, list) else (reply.body or {}).get("results")
        return [str(each["name"]) for each in entries or []] if reply.is_good else []

    async def _names(self, path: str, **query: Any) -> list[str]:
        reply = await self._backend.get(path, limit=_SUGGESTIONS, **query)
        return [each["name"] for each in reply.body["results"]] if reply.is_good else []

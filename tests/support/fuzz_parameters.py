"""Seed data for the hooks of the fuzzing client: existing parameters and valid bodies."""

from dataclasses import dataclass, field
from typing import Any

from support.server import TOKEN

P = "/api/projects/{project_id}"
EVENT = {"event": "$pageview", "distinct_id": "u", "properties": {"$browser": "Firefox"}}

type Json = dict[str, Any]


@dataclass
class Seeds:
    """Given to the hooks as JSON.

    Attributes:
        project: the parameter of nearly every path.
        places: parameters that belong together, by the prefix of the path ("/path") or of the
            operation ("PATCH /path").
        spares: parameters of objects to delete, by path.
        query: values by parameter, by operation ("GET /path").
        bodies: valid bodies by operation; ``$number`` becomes a new number each time.
        spare_count: objects of each kind that can be deleted.
    """

    project: Json = field(
        default_factory=lambda: {"project_id": "1", "organization_id": "@current"}
    )
    places: dict[str, list[Json]] = field(default_factory=lambda: {"": [{"token": TOKEN}]})
    spares: dict[str, list[Json]] = field(default_factory=dict[str, list[Json]])
    query: dict[str, Json] = field(default_factory=dict[str, Json])
    bodies: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    spare_count: int = 12

    def take(self, method: str, path: str, *bodies: Any) -> None:
        """Add valid bodies of an operation; PUT takes the same as PATCH."""
        self.bodies[f"{method} {path}"] = list(bodies)
        if method == "PATCH":
            self.bodies[f"PUT {path}"] = list(bodies)

    def change(self, path: str, *places: Json) -> None:
        """Direct changes to these objects, so that those to read and run stay unchanged."""
        for method in ("PATCH", "PUT"):
            self.places[f"{method} {path}"] = list(places)

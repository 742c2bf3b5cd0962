"""Operations of ad hoc queries in a worker process. Payloads and answers are plain values.

A payload holds::

    {"query": {"kind": "EventsQuery", "select": ["*"], ...}, "context": {...}}

with the context of ``hoglet.endpoints.worker.operations``.
"""

from typing import Any

from hoglet.endpoints.worker.operations import context_of
from hoglet.queries.worker import events

type Json = dict[str, Any]

PLAN_EVENTS = "queries.plan_events"
OPERATIONS = {
    PLAN_EVENTS: "hoglet.queries.worker.operations:plan_events",
}


def plan_events(payload: Json) -> Json:
    """The HogQL of an events query and how its rows are read."""
    return events.plan(payload["query"], context_of(payload["context"]), payload["name_properties"])

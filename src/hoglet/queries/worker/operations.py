"""Sandbox operations of ad hoc queries. Payloads and results are plain values.

A payload is::

    {"query": {"kind": "EventsQuery", "select": ["*"], ...}, "context": {...}}

with the context of ``hoglet.endpoints.worker.operations``.
"""

from typing import Any

from hoglet.endpoints.worker.operations import context_of
from hoglet.queries.worker import events
from hoglet.queries.worker.autocomplete import Known, autocomplete
from hoglet.queries.worker.metadata import metadata

type Json = dict[str, Any]


def plan_events(payload: Json) -> Json:
    """Plan an events query: its HogQL and the assembly of rows."""
    return events.plan(payload["query"], context_of(payload["context"]), payload["name_properties"])


def inspect(payload: Json) -> Json:
    """Metadata of a text for editors, and the plan of a query.

    ``shares`` of a payload are ``[["event", "price", "Numeric", 0.2]]``.
    """
    shares = {(kind, name): (type_, share) for kind, name, type_, share in payload["shares"]}
    report = metadata(payload["query"], context_of(payload["context"]), shares)
    return {"metadata": report.answer(), "explain": report.plan}


def complete(payload: Json) -> Json:
    """Completions at a position of a text.

    A payload has ``properties`` (``[["event", "price", "Numeric"]]``) and ``variables``, names.
    """
    context = context_of(payload["context"])
    known = Known(context, payload["properties"], payload["variables"])
    return autocomplete(payload["query"], known)

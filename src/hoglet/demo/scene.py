"""Sets up the demo through the API: a transformation, a destination, two endpoints."""

from typing import Any

from hoglet.demo.client import PROJECT, Client
from hoglet.demo.figures import LATE_MINUTES

TRANSFORMATION = """
// Cancelled flights never left: drop them. The others get their speed in miles an hour.
if (event.properties.dep_delay == null) {
    return null
}
let changed := event
if (event.properties.air_time != null) {
    changed.properties.speed_mph := event.properties.distance / (event.properties.air_time / 60)
}
return changed
"""

DESTINATION = """
let answer := fetch(inputs.url, {
    'method': 'POST',
    'headers': {'Content-Type': 'application/json'},
    'body': {'text': inputs.text, 'flight': inputs.flight}
})
if (answer.status >= 300) {
    throw Error(f'The receiver answered {answer.status}')
}
"""

CARRIER_DELAY = """
select properties.carrier as carrier, count() as departures,
       avg(properties.dep_delay) as mean_delay, avg(properties.speed_mph) as mean_speed
from events
where event = 'departure' and properties.origin = {variables.origin}
group by carrier
order by carrier
"""

STORED = "select count() from events where event = 'departure'"

DAILY = """
select toDate(timestamp) as day, count() as departures
from events
where event = 'departure'
group by day
order by day
limit 1000
"""


def create_transformation(client: Client) -> str:
    """Create the transformation; returns its id."""
    return _create_function(
        client,
        type="transformation",
        name="Drop cancelled flights, add speed",
        hog=TRANSFORMATION,
        filters=_departures(),
    )


def create_destination(client: Client, url: str) -> str:
    """Create the destination for late departures; returns its id."""
    late = {"key": "dep_delay", "type": "event", "operator": "gte", "value": LATE_MINUTES}
    schema = [
        {"key": "url", "type": "string", "label": "Receiver", "required": True},
        {"key": "text", "type": "string", "label": "Message", "required": True},
        {"key": "flight", "type": "json", "label": "Flight"},
    ]
    properties = "event.properties"
    inputs = {
        "url": {"value": url},
        "text": {
            "value": f"{{{properties}.carrier}} {{{properties}.flight}} from "
            f"{{{properties}.origin}} left {{{properties}.dep_delay}} minutes late"
        },
        "flight": {"value": {"uuid": "{event.uuid}", "speed": f"{{{properties}.speed_mph}}"}},
    }
    return _create_function(
        client,
        type="destination",
        name="Late departure",
        hog=DESTINATION,
        inputs_schema=schema,
        inputs=inputs,
        filters=_departures(properties=[late]),
    )


def create_carrier_delay(client: Client) -> None:
    """Create the endpoint with a variable, and the project variable that it uses."""
    variable = client.call(
        "POST",
        f"{PROJECT}/insight_variables/",
        {"name": "origin", "type": "String", "default_value": "EWR"},
    )
    definition = {"variableId": variable["id"], "code_name": variable["code_name"]}
    query = {
        "kind": "HogQLQuery",
        "query": CARRIER_DELAY,
        "variables": {variable["id"]: definition},
    }
    client.call("POST", f"{PROJECT}/endpoints/", {"name": "carrier_delay", "query": query})


def create_stored(client: Client) -> None:
    """Create the endpoint that counts stored events."""
    body = {"name": "stored_departures", "query": {"kind": "HogQLQuery", "query": STORED}}
    client.call("POST", f"{PROJECT}/endpoints/", body)


def create_daily(client: Client) -> None:
    """Create the materialized endpoint; its first build starts at once."""
    body = {
        "name": "daily_departures",
        "query": {"kind": "HogQLQuery", "query": DAILY},
        "is_materialized": True,
    }
    client.call("POST", f"{PROJECT}/endpoints/", body)


def _departures(**more: Any) -> dict[str, Any]:
    events = [{"id": "departure", "name": "departure", "type": "events", "order": 0}]
    return {"source": "events", "events": events, **more}


def _create_function(client: Client, **fields: Any) -> str:
    created = client.call("POST", f"{PROJECT}/hog_functions/", {"enabled": True, **fields})
    return created["id"]

"""``hoglet status``: the health and the queues of a server; needs no key."""

import json
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

from hoglet.cli.output import AsJson, print_json, print_table
from hoglet.cli.server.api_client import ApiUnreachable, no_answer, not_hoglet
from hoglet.cli.server.connection import current_connection
from hoglet.cli.server.responses import ReadinessResponse

_SECONDS = 10
_STATES = ("ready", "delayed", "leased", "failed")
_COUNTS = {
    "dead_letters": "dead letters",
    "property_columns": "properties with a column of their own",
}
_OLD_STATES = {"buried": "failed"}  # used by servers before 0.1


def status(as_json: AsJson = False) -> None:
    """Show the health checks and queues of a server; exits with 1 if a check fails.

    Queues are measured every few seconds by a server with the role pipeline.
    """
    url = current_connection().url
    ready = _readiness(url)
    parts = ready["checks"]
    is_well = all(state == "ok" for state in parts.values())
    if as_json:
        metrics = _read(f"{url}/metrics")
        names = ("queue", *_STATES, "oldest_waits")
        queues = [dict(zip(names, row, strict=True)) for row in queue_rows(metrics)]
        counts = {name: gauge(metrics, name) for name in _COUNTS}
        print_json({**ready, "queues": queues, **counts})
        raise typer.Exit(int(not is_well))
    for name, state in parts.items():
        colour = "green" if state == "ok" else "red"
        Console(highlight=False).print(f"{name} [{colour}]{escape(state)}[/]")
    for warning in ready["warnings"]:
        Console(highlight=False).print(f"[yellow]{escape(warning)}[/]")
    metrics = _read(f"{url}/metrics")
    rows = queue_rows(metrics)
    if rows:
        print()
        print_table(("queue", *_STATES, "oldest waits"), rows)
    print()
    for name, words in _COUNTS.items():
        count = gauge(metrics, name)
        if count is not None:
            print(f"{count} {words}")
    raise typer.Exit(int(not is_well))


def _readiness(url: str) -> ReadinessResponse:
    text = _read(f"{url}/_readyz")
    try:
        ready: Any = json.loads(text)
    except (ValueError, RecursionError):
        ready = None
    if not _is_readiness(ready):
        raise not_hoglet(url)
    return ready


def _is_readiness(answer: Any) -> bool:
    """Whether a response comes from a hoglet server."""
    if not isinstance(answer, dict):
        return False
    checks, warnings = answer.get("checks"), answer.get("warnings")
    states = checks.values() if isinstance(checks, dict) else [None]
    texts = [*states, *(warnings if isinstance(warnings, list) else [None])]
    return all(isinstance(text, str) for text in texts)


def queue_rows(metrics: str) -> list[tuple[str, ...]]:
    """Queues with their jobs by state and their lag, from the text of ``/metrics``."""
    from prometheus_client.parser import text_string_to_metric_families

    jobs: dict[str, dict[str, int]] = {}
    lag: dict[str, float] = {}
    for family in text_string_to_metric_families(metrics):
        for sample in family.samples:
            queue = sample.labels.get("queue", "")
            if sample.name == "hoglet_queue_jobs":
                state = sample.labels["state"]
                jobs.setdefault(queue, {})[_OLD_STATES.get(state, state)] = int(sample.value)
            elif sample.name == "hoglet_queue_lag_seconds":
                lag[queue] = sample.value
    return [
        (queue, *(str(counts.get(state, 0)) for state in _STATES), f"{lag.get(queue, 0):.1f} s")
        for queue, counts in sorted(jobs.items())
    ]


def gauge(metrics: str, name: str) -> int | None:
    """The value of the gauge ``hoglet_<name>``; None before its first measurement."""
    for line in metrics.splitlines():
        if line.startswith(f"hoglet_{name} "):
            return int(float(line.rpartition(" ")[2]))
    return None


def _read(url: str) -> str:
    """The body of a response, also of a 503 from ``/_readyz``."""
    try:
        with urllib.request.urlopen(url, timeout=_SECONDS) as answer:  # noqa: S310 (see server_url)
            return answer.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        if error.code == 503:
            return error.read().decode(errors="replace")
        raise ApiUnreachable(f"{url} answered {error.code}.") from None
    except HTTPException:
        raise not_hoglet(url) from None
    except OSError as error:
        raise no_answer(url, error) from None

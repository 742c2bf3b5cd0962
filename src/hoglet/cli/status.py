"""``hoglet status``: whether a server is well and what waits in it; needs no key."""

import json
import urllib.error
import urllib.request
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

from hoglet.cli.api_client import ApiUnreachable
from hoglet.cli.data_folder import print_table
from hoglet.cli.server_address import DEFAULT_URL, Url, server_url

_SECONDS = 10
_STATES = ("ready", "delayed", "leased", "buried")


def status(url: Url = DEFAULT_URL) -> None:
    """Show the parts of a server and its queues; exits with 1 when a part is not usable.

    Measured every few seconds by a server with the role pipeline.
    """
    url = server_url(url)
    ready: dict[str, Any] = json.loads(_read(f"{url}/_readyz"))
    parts: dict[str, str] = ready["checks"]
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
    letters = dead_letters(metrics)
    if letters is not None:
        print(f"\n{letters} dead letters")
    raise typer.Exit(int(any(state != "ok" for state in parts.values())))


def queue_rows(metrics: str) -> list[tuple[str, ...]]:
    """Queues with their jobs by state and their lag, from the text of ``/metrics``."""
    from prometheus_client.parser import text_string_to_metric_families

    jobs: dict[str, dict[str, int]] = {}
    lag: dict[str, float] = {}
    for family in text_string_to_metric_families(metrics):
        for sample in family.samples:
            queue = sample.labels.get("queue", "")
            if sample.name == "hoglet_queue_jobs":
                jobs.setdefault(queue, {})[sample.labels["state"]] = int(sample.value)
            elif sample.name == "hoglet_queue_lag_seconds":
                lag[queue] = sample.value
    return [
        (queue, *(str(counts.get(state, 0)) for state in _STATES), f"{lag.get(queue, 0):.1f} s")
        for queue, counts in sorted(jobs.items())
    ]


def dead_letters(metrics: str) -> int | None:
    """Dead letters that were not run again; None before the first measurement."""
    for line in metrics.splitlines():
        if line.startswith("hoglet_dead_letters "):
            return int(float(line.rpartition(" ")[2]))
    return None


def _read(url: str) -> str:
    """The text at an address; a 503 of ``/_readyz`` has one too."""
    try:
        with urllib.request.urlopen(url, timeout=_SECONDS) as answer:  # noqa: S310 (see server_url)
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        if error.code == 503:
            return error.read().decode()
        raise ApiUnreachable(f"{url} answered {error.code}.") from None
    except OSError as error:
        reason = getattr(error, "reason", error)
        raise ApiUnreachable(f"No server answers at {url}: {reason}") from None

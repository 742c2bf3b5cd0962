"""Sends the departures: some through the official SDK, the rest through the importer."""

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import orjson
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from hoglet.demo.flights import DataMissing, Departure
from hoglet.demo.server import DemoServer


def send_with_sdk(server: DemoServer, departures: Sequence[Departure], console: Console) -> float:
    """Capture with the PyPI package ``posthog``; returns seconds.

    Raises:
        DataMissing: the SDK is not installed.
    """
    try:
        from posthog import Posthog
    except ImportError:
        raise DataMissing("The demo needs the package posthog: run `make setup` first.") from None
    started = time.monotonic()
    client = Posthog(
        server.token, host=server.url, gzip=True, flush_at=500, max_queue_size=len(departures) + 1
    )
    with _progress(console) as progress:
        for departure in progress.track(departures, description="SDK -> /batch/"):
            event = departure.event()
            client.capture(
                event["event"],
                distinct_id=event["distinct_id"],
                properties=event["properties"],
                timestamp=departure.scheduled,
                uuid=event["uuid"],
            )
        client.shutdown()
    return time.monotonic() - started


def import_rest(server: DemoServer, departures: Sequence[Departure], folder: Path) -> float:
    """Write the rest as NDJSON and run ``hoglet events import`` on it; returns the seconds."""
    path = folder / "departures.ndjson"
    with path.open("wb") as file:
        for departure in departures:
            file.write(orjson.dumps(departure.event()) + b"\n")
    started = time.monotonic()
    command = [sys.executable, "-m", "hoglet.cli.main", "events", "import", str(path)]
    subprocess.run(command, env=server.environment, check=True)
    path.unlink()
    return time.monotonic() - started


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
    )

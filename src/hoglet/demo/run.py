"""The demo from start to summary; every figure is verified against the CSV file."""

import math
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table

from hoglet.demo.client import PROJECT, Client
from hoglet.demo.figures import DemoFigures, compute_figures
from hoglet.demo.flights import read_departures
from hoglet.demo.scene import (
    create_carrier_delay,
    create_daily,
    create_destination,
    create_stored,
    create_transformation,
)
from hoglet.demo.server import DemoServer
from hoglet.demo.traffic import Receiver, import_rest, send_with_sdk


class Check(msgspec.Struct, frozen=True):
    """One figure: ``Check("stored", 328521, 328521)``."""

    name: str
    expected: float
    actual: float | None

    @property
    def agrees(self) -> bool:
        """Whether the values are equal, up to rounding of floats (one part in 10^9)."""
        return self.actual is not None and math.isclose(self.expected, self.actual, rel_tol=1e-9)


def show_checks(console: Console, title: str, checks: Iterable[Check]) -> bool:
    """Print the figures; True if all agree."""
    table = Table("", "expected", "found", "", title=title, title_justify="left")
    complete = True
    for check in checks:
        complete &= check.agrees
        mark = "[green]equal[/]" if check.agrees else "[bold red]DIFFERS[/]"
        table.add_row(check.name, _number(check.expected), _number(check.actual), mark)
    console.print(table)
    return complete


def show_rows(
    console: Console, title: str, columns: list[str], rows: Iterable[Iterable[object]]
) -> None:
    """Print a plain table."""
    table = Table(*columns, title=title, title_justify="left")
    for row in rows:
        table.add_row(*(_number(cell) if isinstance(cell, float) else str(cell) for cell in row))
    console.print(table)


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.4f}"


ORIGIN = "JFK"
SDK_SHARE = 20_000
# Counts are polled until they are complete; after this long without progress the demo gives up and
# shows the differences.
PATIENCE_SECONDS = 30


def run_demo(
    *, data_dir: Path | None, port: int, once: bool, limit: int | None, console: Console
) -> bool:
    """Run the demo; True if every figure matches the CSV file.

    Args:
        data_dir: an existing folder for the server, a temporary one if None.
        port: port of the server, a free one if 0.
        once: stop after the summary, otherwise keep running until Ctrl-C.
        limit: only the first rows, for tests.
        console: where to print.
    """
    with tempfile.TemporaryDirectory(prefix="hoglet-demo-") as temporary:
        server, receiver = DemoServer(data_dir or Path(temporary), port), Receiver()
        try:
            with console.status("Starting a server"):
                server.wait_until_ready()
            complete = _Demo(server, receiver, console).play(limit)
            if not once:
                _stay_up(server, console)
        finally:
            server.stop()
            receiver.close()
    return complete


class _Demo:
    """State of one demo run: what was set up, and timings."""

    def __init__(self, server: DemoServer, receiver: Receiver, console: Console) -> None:
        self.server = server
        self.receiver = receiver
        self.console = console
        self.client = Client(server.url, server.key)
        self.times: list[tuple[str, float]] = [("server ready", server.seconds_to_ready)]

    def play(self, limit: int | None) -> bool:
        self.console.print(f"hoglet runs at {self.server.url} on {self.server.data_dir}")
        departures = self._timed("read the CSV", lambda: list(read_departures(limit)))
        figures = compute_figures(departures, origin=ORIGIN)
        self.transformation = create_transformation(self.client)
        self.destination = create_destination(self.client, self.receiver.url)
        create_carrier_delay(self.client)
        create_stored(self.client)
        share = min(SDK_SHARE, len(departures))
        sdk = send_with_sdk(self.server, departures[:share], self.console)
        self.times.append((f"SDK, {share:,} events", sdk))
        rest = departures[share:]
        if rest:
            imported = import_rest(self.server, rest, self.server.data_dir)
            self.times.append((f"events import, {len(rest):,} events", imported))
        self._timed("until stored and delivered", lambda: self._wait(figures))
        create_daily(self.client)
        self._timed("first materialization", self._wait_for_table)
        return self._summary(figures)

    def _timed[T](self, name: str, work: Callable[[], T]) -> T:
        started = time.monotonic()
        result = work()
        self.times.append((name, time.monotonic() - started))
        return result

    def _wait(self, figures: DemoFigures) -> None:
        expected = (figures.stored, figures.late, figures.late)
        last, changed_at = (-1, -1, -1), time.monotonic()
        with self.console.status("Waiting until everything is stored and delivered") as status:
            while last != expected and time.monotonic() - changed_at < PATIENCE_SECONDS:
                time.sleep(0.5)
                now = (self._stored(), len(self.receiver.deliveries), self._succeeded())
                if now != last:
                    last, changed_at = now, time.monotonic()
                status.update(f"{now[0]:,} of {expected[0]:,} stored, {now[1]} delivered")

    def _stored(self) -> int:
        rows = self.client.run("stored_departures", refresh="force")["results"]
        return int(rows[0][0])

    def _succeeded(self) -> int:
        return self._totals(self.destination).get("succeeded", 0)

    def _totals(self, function_id: str) -> dict[str, int]:
        path = f"{PROJECT}/hog_functions/{function_id}/metrics/totals?breakdown_by=name&after=-24h"
        return self.client.call("GET", path)["totals"]

    def _wait_for_table(self) -> None:
        path = f"{PROJECT}/endpoints/daily_departures/materialization_status"
        for _ in range(PATIENCE_SECONDS * 10):
            if self.client.call("GET", path).get("ready"):
                return
            time.sleep(0.1)

    def _summary(self, figures: DemoFigures) -> bool:
        carriers = self.client.run("carrier_delay", variables={"origin": ORIGIN})
        daily = self.client.run("daily_departures")
        totals = self._totals(self.destination)
        dropped = self._totals(self.transformation).get("dropped", 0)
        show_rows(
            self.console,
            f"carrier_delay, origin {ORIGIN}",
            carriers["columns"],
            carriers["results"],
        )
        complete = show_checks(self.console, "Events", self._event_checks(figures, dropped, totals))
        complete &= show_checks(
            self.console, "Endpoints against the CSV", _endpoint_checks(figures, carriers, daily)
        )
        sample = list(self.receiver.deliveries.values())[:3]
        show_rows(self.console, "First deliveries", ["text"], ([item["text"]] for item in sample))
        show_rows(self.console, "Function metrics", ["metric", "count"], sorted(totals.items()))
        show_rows(self.console, "Seconds", ["part", "seconds"], self.times)
        self.console.print("Everything agrees." if complete else "[red]Some figures differ.[/]")
        return complete

    def _event_checks(
        self, figures: DemoFigures, dropped: int, totals: dict[str, int]
    ) -> Iterator[Check]:
        yield Check("stored", figures.stored, self._stored())
        yield Check("dropped by the transformation", figures.cancelled, dropped)
        yield Check("late departures delivered", figures.late, len(self.receiver.deliveries))
        yield Check("function metric succeeded", figures.late, totals.get("succeeded"))


def _endpoint_checks(
    figures: DemoFigures, carriers: dict[str, Any], daily: dict[str, Any]
) -> Iterator[Check]:
    by_carrier = {row[0]: row[1:] for row in carriers["results"]}
    for carrier, expected in figures.carrier_delay.items():
        names = ("departures", "mean delay", "mean speed")
        for name, value, answer in zip(
            names, expected, by_carrier.get(carrier, [None] * 3), strict=True
        ):
            yield Check(f"{carrier} {name}", value, answer)
    days = {row[0]: row[1] for row in daily["results"]}
    equal = sum(days.get(day) == count for day, count in figures.daily.items())
    yield Check("days with an equal count", len(figures.daily), equal)
    yield Check("days answered", len(figures.daily), len(days))
    yield Check("answered from the table", 1, int(daily.get("endpoint_materialized", False)))


def _stay_up(server: DemoServer, console: Console) -> None:
    console.print(f"Console: {server.url}/  key: {server.key}  (Ctrl-C stops)")
    try:
        while True:
            time.sleep(1)
    except KeyboardInterrupt:
        console.print("Stopping")

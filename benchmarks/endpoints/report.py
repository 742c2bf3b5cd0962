"""Prints the figures as tables: ratios within one session, each beside its goal."""

from benchmarks.endpoints.isolation import Isolation
from benchmarks.endpoints.timing import Times
from rich.console import Console
from rich.table import Table

type ByClients = dict[tuple[str, int], Times]


def compiling(console: Console, times: tuple[float, float]) -> None:
    parse, whole = times
    console.print(
        f"\ncompile 30 lines: {whole:.2f} ms, of it parsing {parse:.2f} ms; "
        f"without parsing [bold]{whole - parse:.2f} ms[/] (goal under 3)"
    )


def computed(console: Console, bare: ByClients, ours: ByClients) -> None:
    title = "computed run against the bare engine (goal at most x1.3)"
    table = Table(title=title, box=None, padding=(0, 1, 0, 0))
    names = ("p50", "run", "ratio", "mean", "run", "ratio", "p95", "run", "ratio")
    for column in ("query", "clients", *names):
        table.add_column(column, justify="left" if column == "query" else "right")
    for (name, clients), run in ours.items():
        engine = bare[name, clients]
        table.add_row(
            name,
            str(clients),
            *_pair(engine.p50, run.p50),
            *_pair(engine.mean, run.mean),
            *_pair(engine.p95, run.p95),
        )
    console.print(table)


def typed(console: Console, text: Times, ours: Times) -> None:
    console.print(
        f"group by a property: text {text.p50:.0f} ms, run {ours.p50:.1f} ms: "
        f"[bold]{text.p50 / ours.p50:.1f}x[/] (goal 12)"
    )


def cached(console: Console, bare: Times, ours: Times) -> None:
    console.print(
        f"cached run: route {bare.per_second:,.0f}/s, run {ours.per_second:,.0f}/s: "
        f"[bold]{ours.per_second / bare.per_second:.0%}[/] (goal 60 %)"
    )


def materialised(console: Console, inline: Times, stored: Times) -> None:
    console.print(
        f"materialized with a variable: computed {inline.p50:.1f} ms, table {stored.p50:.2f} ms: "
        f"[bold]{inline.p50 / stored.p50:.1f}x[/] (goal 20)"
    )


def isolation(console: Console, seen: Isolation) -> None:
    console.print(
        f"16 cheap clients: p95 {seen.alone.p95:.0f} ms alone, {seen.beside.p95:.0f} ms beside a "
        f"heavy query: [bold]x{seen.beside.p95 / seen.alone.p95:.2f}[/] (goal 2); the heavy one "
        f"ended with {seen.heavy_status} {seen.heavy_code} after {seen.heavy_seconds:.1f} s; "
        f"the server's peak was {seen.peak_bytes / 1024**2:,.0f} MiB"
    )


def neighbours(console: Console, ours: ByClients, others: ByClients) -> None:
    table = Table(title="the same saved query elsewhere, one client, p50 in ms")
    for column in ("query", "hoglet", "ROAPI", "Datasette"):
        table.add_column(column, justify="left" if column == "query" else "right")
    for name in ("count", "property"):
        figures = (ours[name, 1], others["roapi", name], others["datasette", name])
        table.add_row(name, *(f"{times.p50:,.1f}" for times in figures))
    console.print(table)


def _pair(engine: float, run: float) -> tuple[str, str, str]:
    return f"{engine:.2f}", f"{run:.2f}", f"x{run / engine:.2f}"

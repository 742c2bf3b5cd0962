"""``hoglet events``: imports and follows events."""

from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from hoglet.cli.error_handling import print_hint
from hoglet.cli.tail import add_tail
from hoglet.kit.clock import SystemClock

if TYPE_CHECKING:
    from hoglet.events.export_rows import ExportRows
    from hoglet.events.files import CsvColumns
    from hoglet.events.importer import ImportResult
    from hoglet.settings import Settings

_FIRST = 1  # project of a server that was not started yet

events_app = typer.Typer(help="Events.", no_args_is_help=True)
add_tail(events_app)


@events_app.command("import")
def import_events(
    files: Annotated[
        list[Path], typer.Argument(help="Event files; .gz, .br and .zst are decompressed.")
    ],
    project: Annotated[int, typer.Option(help="Project of the events.")] = 1,
    kind: Annotated[
        str, typer.Option("--format", help="auto, ndjson, json (an array), csv or parquet.")
    ] = "auto",
    event: Annotated[
        str | None, typer.Option(help="CSV: name of all events, if there is no column `event`.")
    ] = None,
    distinct_id: Annotated[
        str, typer.Option(help="CSV: column with the distinct id.")
    ] = "distinct_id",
    timestamp: Annotated[str, typer.Option(help="CSV: column with the time.")] = "timestamp",
    historical: Annotated[bool, typer.Option(help="Store only: trigger no destinations.")] = False,
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder for all data. [default: hoglet-data]")
    ] = None,
) -> None:
    """Spool events from files; a running server, or the next one to start, processes them.

    Takes PostHog's event exports as they are. Safe to repeat: an event that is already stored is
    not stored again.
    """
    import asyncio

    from hoglet.app.startup.errors import data_faults
    from hoglet.cli.admin.data_folder import has_database
    from hoglet.events.export_rows import ExportRows
    from hoglet.events.files import CsvColumns
    from hoglet.settings import load_settings

    columns = CsvColumns(event=event, distinct_id=distinct_id, timestamp=timestamp)
    exports = ExportRows()
    events = _events_of(files, kind, columns, exports)
    settings = load_settings(data_dir=data_dir)
    is_new = not has_database(settings)
    with _advancing(files) as advance, data_faults(settings):
        result = asyncio.run(_import(settings, project, historical, events, advance))
    _print_result(result, exports.left_out)
    if is_new:
        print_hint(f"{settings.data_dir} is a new data folder; no server has used it yet")
    raise typer.Exit(1 if result.refused and not result.accepted else 0)


@contextmanager
def _advancing(files: Sequence[Path]) -> Generator[Callable[[int, int], None]]:
    """Show the progress through files; yields a function of position and accepted events."""
    total = sum(path.stat().st_size for path in files)
    with _progress(Console(stderr=True, highlight=False)) as progress:
        task = progress.add_task("import", total=total, count=0)

        def advance(position: int, accepted: int) -> None:
            progress.update(task, completed=position, count=accepted)

        yield advance


def _print_result(result: "ImportResult", left_out: Collection[str]) -> None:
    console = Console(highlight=False)
    console.print(f"{result.accepted:,} events spooled, {result.refused:,} rejected")
    for reason in result.reasons:
        console.print(f"  {reason}")
    if left_out:
        print_hint(f"columns not imported: {', '.join(sorted(left_out))}")


def _events_of(
    files: Sequence[Path], kind: str, columns: "CsvColumns", exports: "ExportRows"
) -> Iterator[tuple[int, Any]]:
    """The events of all files, each with its position in their joined bytes."""
    from hoglet.events.files import FORMATS, UnreadableFile, read_events

    if kind not in FORMATS:
        raise UnreadableFile(f"--format is one of {', '.join(FORMATS)}.")
    problem = next(filter(None, map(_why_unreadable, files)), None)
    if problem is not None:
        raise UnreadableFile(problem)
    return _one_after_another(
        files,
        lambda path: read_events(path, kind, columns, exports),  # pyright: ignore[reportArgumentType] (checked above)
    )


def _one_after_another(
    files: Sequence[Path], read: Callable[[Path], Iterator[tuple[int, Any]]]
) -> Iterator[tuple[int, Any]]:
    before = 0
    for path in files:
        for position, raw in read(path):
            yield before + position, raw
        before += path.stat().st_size


def _why_unreadable(path: Path) -> str | None:
    if path.is_file():
        return None
    if path.is_dir():
        return f"{path} is a folder; name the files in it, such as {path / '*.parquet'}."
    if path.exists():
        return f"{path} is a device or a pipe; write the events to a file and import that."
    return f"There is no file {path}."


async def _import(
    settings: "Settings",
    project_id: int,
    historical: bool,
    events: Iterator[tuple[int, Any]],
    advance: Callable[[int, int], None],
) -> "ImportResult":
    import asyncio

    from hoglet.access.provisioning import check_project
    from hoglet.app.startup.data_folder import prepare_data_folder
    from hoglet.events.importer import Importer
    from hoglet.migrations.upgrade import migrate
    from hoglet.queue.sql import SqlQueue
    from hoglet.store.database import Database

    prepare_data_folder(settings.data_dir)
    await asyncio.to_thread(migrate, settings.resolved_database_url())
    database, clock = Database(settings.resolved_database_url()), SystemClock()
    try:
        if project_id != _FIRST:
            async with database.read() as session:
                await check_project(session, project_id)
        queue = SqlQueue(database, clock, owner="import")
        importer = Importer(
            database=database,
            queue=queue,
            clock=clock,
            project_id=project_id,
            historical=historical,
        )
        return await importer.run(events, advance)
    finally:
        await database.close()


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TextColumn("{task.fields[count]:,} events"),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )

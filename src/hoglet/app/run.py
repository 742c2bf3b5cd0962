"""One server from start to stop."""

import structlog
from fastapi import FastAPI
from rich.console import Console

from hoglet.app.connections import (
    ConnectionReaper,
    Deadlines,
    connection_limit,
    reaping,
)
from hoglet.app.container import Services, open_services
from hoglet.app.data_folder import DataFolderLock
from hoglet.app.features import Features, build_features
from hoglet.app.http import build_application
from hoglet.app.logging import configure_logs
from hoglet.app.serve import serve
from hoglet.app.workers import build_workers, running
from hoglet.functions.secrets.rotation import reencrypt_all
from hoglet.settings import Settings

log = structlog.get_logger()


async def run_server(settings: Settings) -> None:
    """Serve until SIGTERM or Ctrl-C; everything accepted is on disk when this returns.

    Raises:
        DataFolderInUse: another server runs on the data folder.
    """
    configure_logs(level=settings.log_level, style=settings.log_format)
    lock = DataFolderLock(settings.data_dir)
    lock.acquire()
    try:
        async with open_services(settings) as rooms:
            features = build_features(rooms)
            await _reseal(rooms, features)
            async with running(build_workers(rooms, features)):
                application = build_application(rooms, features)
                _greet(rooms)
                connections = connection_limit(settings.connections)
                async with reaping(_reaper(application, settings, connections)):
                    await serve(
                        application,
                        host=settings.host,
                        port=settings.port,
                        connections=connections,
                        on_stop=features.functions.live_tail.close,
                    )
    finally:
        lock.release()


def _reaper(application: FastAPI, settings: Settings, limit: int) -> ConnectionReaper:
    deadlines = Deadlines(settings.request_header_seconds, settings.response_stall_seconds)
    requests = application.state.open_requests
    return ConnectionReaper(settings.port, requests, deadlines, limit=limit)


async def _reseal(rooms: Services, features: Features) -> None:
    """Finish a rotation of keys; what no key opens any more is told, and waits for its owner."""
    box = features.functions.service.box
    if not box.has_old_keys:
        return
    done = await reencrypt_all(rooms.database, box)
    log.info("secrets sealed again", action="resealed", **done._asdict())


def _greet(rooms: Services) -> None:
    """Tell the address; on the first start the token and the key too, which is shown only once."""
    console = Console(highlight=False, soft_wrap=True)
    first = rooms.first_start
    console.print(f"hoglet serves at [bold]{rooms.settings.resolved_site_url()}[/]")
    if not first.created:
        return
    console.print(f"  console           {rooms.settings.resolved_site_url()}/")
    console.print(f"  project token     {first.project_token}   (for capture)")
    console.print(f"  personal API key  {first.personal_api_key}   (for the API; keep it)")

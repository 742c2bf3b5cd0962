"""Runs one server from start to stop."""

import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, closing
from typing import Any, NamedTuple

import structlog
from starlette.applications import Starlette

from hoglet.access.bootstrap import FirstStart, ensure_first_project
from hoglet.app.backup.service import remove_leftovers
from hoglet.app.http.application import build_application
from hoglet.app.http.draining import Drain
from hoglet.app.http.listener import bind, listen
from hoglet.app.http.serve import serve
from hoglet.app.http.stalled_connections import (
    ConnectionReaper,
    Deadlines,
    connection_limit,
    reaping,
)
from hoglet.app.http.stop_limit import StopLimit
from hoglet.app.services.container import Services, open_services
from hoglet.app.services.features import Features, build_features
from hoglet.app.startup.data_folder import (
    DataFolderLock,
    prepare_data_folder,
    removed_after_failure,
)
from hoglet.app.startup.errors import startup_faults
from hoglet.app.startup.logging import configure_logs
from hoglet.app.startup.requirements import check_extras, raise_descriptor_limit
from hoglet.app.startup.server_file import (
    ServerAddress,
    killed_server,
    make_token,
    remove_server_file,
    write_server_file,
)
from hoglet.app.startup.tracing import tracing_of_server
from hoglet.app.workers import build_workers, running
from hoglet.functions.secrets.rotation import reencrypt_all
from hoglet.kit.freed_memory import collect_less, keep_freed_memory
from hoglet.queue import owners as job_owners
from hoglet.sandbox.confinement import missing_walls
from hoglet.settings import Settings
from hoglet.spool import owners as spool_owners

log = structlog.get_logger()

# Bodies and messages of a group. With 8 MiB, an event of capture causes 2.1 page faults, not 1.4.
_KEPT_BYTES = 32 * 1024 * 1024
_LARGEST_KEPT_BLOCK = 4 * 1024 * 1024  # bodies and results of this size are rare


class _Server(NamedTuple):
    application: Any
    listener: socket.socket
    connections: int
    drain: Drain
    on_stop: Callable[[], Awaitable[None]]


async def run_server(settings: Settings) -> None:
    """Serve until SIGTERM or Ctrl-C; everything accepted is on disk when this returns.

    Raises:
        StartupFault: it cannot start; nothing was served.
    """
    configure_logs(level=settings.log_level, style=settings.log_format)
    async with AsyncExitStack() as stack:
        with startup_faults(settings):
            await stack.enter_async_context(tracing_of_server())
            server = await _start(settings, stack)
        collect_less()
        await serve(
            server.application,
            listener=server.listener,
            connections=server.connections,
            drain=server.drain,
            limit=StopLimit(),
            on_stop=server.on_stop,
        )


async def _start(settings: Settings, stack: AsyncExitStack) -> _Server:
    """Cheap checks come first, the first project last, because its key is shown only once."""
    check_extras(settings)
    raise_descriptor_limit()
    keep_freed_memory(most=_KEPT_BYTES, largest_block=_LARGEST_KEPT_BLOCK)
    is_new = not settings.data_dir.exists()
    prepare_data_folder(settings.data_dir)
    lock = DataFolderLock(settings.data_dir)
    stack.callback(lock.release)
    lock.acquire()
    if is_new:
        stack.enter_context(removed_after_failure(settings.data_dir))
    former = killed_server(settings.data_dir)
    remove_leftovers(settings.data_dir)
    listener = stack.enter_context(closing(bind(settings.host, settings.port)))
    settings = settings.model_copy(update={"port": listener.getsockname()[1]})
    services = await stack.enter_async_context(open_services(settings))
    await _release_leases_of(former, services)
    features = build_features(services)
    await _reencrypt(services, features)
    drain = Drain(settings.drain_seconds)
    token = make_token()
    application = build_application(services, features, drain, local_token=token)
    workers = build_workers(services, features)
    for wall in missing_walls():
        log.warning("workers are not fully confined: the kernel lacks features", wall=wall)
    listen(listener)
    stack.callback(remove_server_file, settings.data_dir)
    folder = settings.data_dir.stat().st_ino
    address = ServerAddress(settings.local_url(), token, services.name, folder)
    write_server_file(settings.data_dir, address)
    _greet(await _first_project(services), settings)
    stop_leasing = await stack.enter_async_context(running(workers))
    connections = connection_limit(settings.connections)
    await stack.enter_async_context(reaping(_reaper(application, settings, connections)))

    async def on_stop() -> None:
        stop_leasing()
        features.functions.live_tail.close()
        await application.state.websockets.close()

    return _Server(application, listener, connections, drain, on_stop)


def _reaper(application: Starlette, settings: Settings, limit: int) -> ConnectionReaper:
    deadlines = Deadlines(settings.request_header_seconds, settings.response_stall_seconds)
    requests = application.state.open_requests
    return ConnectionReaper(settings.port, requests, deadlines, limit=limit)


async def _release_leases_of(former: str | None, services: Services) -> None:
    """Release what the killed server of this folder held: the folder's lock shows that it is gone.

    On SQLite the queue has done so, under the only name that there is.
    """
    if former is None or services.database.is_sqlite:
        return
    async with services.database.write() as session:
        await spool_owners.forget(session, former)
        jobs = await job_owners.forget(session, former)
    log.info("the former server was killed", action="former_server_killed", jobs=jobs)


async def _reencrypt(services: Services, features: Features) -> None:
    """Finish a key rotation; secrets that no key can decrypt are logged and kept.

    On PostgreSQL other servers may not know the new key yet, so that is left to
    ``hoglet admin secrets reencrypt``.
    """
    box = features.functions.service.box
    if not (box.has_old_keys and services.database.is_sqlite):
        return
    done = await reencrypt_all(services.database, box)
    log.info("secrets re-encrypted", action="secrets_reencrypted", **done._asdict())


async def _first_project(services: Services) -> FirstStart:
    return await ensure_first_project(
        services.database,
        services.clock,
        personal_api_key=services.settings.bootstrap_personal_api_key,
        project_token=services.settings.bootstrap_project_token,
    )


def _greet(first: FirstStart, settings: Settings) -> None:
    """Print the address; on the first start also the generated token and key.

    Configured ones are already known to the operator and do not belong in a log.
    """
    site, lines = settings.resolved_site_url(), list[str]()
    if first.created:
        lines.append(f"console           {site}/")
    if first.created and settings.bootstrap_project_token is None:
        lines.append(f"project token     {first.project_token}   (for capture)")
    if first.created and settings.bootstrap_personal_api_key is None:
        lines.append(f"personal API key  {first.personal_api_key}   (for the API; keep it)")
    sys.stdout.write("\n  ".join([f"hoglet serves at {site}", *lines]) + "\n")
    sys.stdout.flush()

"""Builds all services from the settings, in order, and closes them in reverse order."""

import asyncio
import os
import platform
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

import msgspec
from prometheus_client import CollectorRegistry

from hoglet.access.auth import AccessService
from hoglet.access.rate_limit import RateLimit, RateSettings
from hoglet.app.services.sandboxes import Sandboxes
from hoglet.app.startup.native_stderr import native_stderr
from hoglet.app.startup.secret_keys import open_secret_keys
from hoglet.app.startup.spool_logs import open_spool_logs
from hoglet.app.startup.warehouse_identity import claim_warehouse, embedded_writer, is_durable
from hoglet.functions.secrets.box import SecretBox
from hoglet.kit.clock import Clock, new_id
from hoglet.migrations.upgrade import migrate
from hoglet.outbound.client import Outbound
from hoglet.pipeline.checkpoints import Checkpoints
from hoglet.pipeline.health import PipelineHealth
from hoglet.pipeline.lost_writes import LostWrites
from hoglet.queue.sql import SqlQueue
from hoglet.settings import Settings
from hoglet.spool import NamedLog
from hoglet.store.database import Database
from hoglet.store.shared_clock import shared_clock
from hoglet.warehouse import ClickHouseWarehouse, Retention, Warehouse, open_warehouse


class Services(msgspec.Struct):
    """Services shared by the application and the workers; ``name`` is unique to this process."""

    name: str
    settings: Settings
    clock: Clock
    database: Database
    warehouse: Warehouse
    queue: SqlQueue
    sandboxes: Sandboxes
    outbound: Outbound
    access: AccessService
    registry: CollectorRegistry
    health: PipelineHealth
    lost_writes: LostWrites
    checkpoints: Checkpoints
    secret_keys: list[str]
    spool_logs: list[NamedLog]


@asynccontextmanager
async def open_services(
    settings: Settings, clock: Clock | None = None, *, with_warehouse: bool = True
) -> AsyncGenerator[Services]:
    """Open everything a server needs; closed on exit.

    Args:
        settings: the settings of the server.
        clock: source of the current time; the system clock by default.
        with_warehouse: False for work that does not use it; it is then neither opened nor migrated.

    Library errors propagate; ``hoglet.app.startup.errors`` turns them into messages.
    """
    async with AsyncExitStack() as stack:
        opening = _open_warehouse(settings) if with_warehouse else _unopened(settings)
        database, warehouse = await _open_storage(settings, stack, opening)
        clock = await stack.enter_async_context(shared_clock(database, clock))
        if with_warehouse and set(settings.roles) & {"api", "pipeline"}:  # an executor needs none
            await stack.enter_async_context(embedded_writer(database, settings))
            await claim_warehouse(database, warehouse, settings, clock)
        secret_keys = await open_secret_keys(database, settings)
        registry = CollectorRegistry()
        sandboxes = Sandboxes(settings, registry)
        stack.push_async_callback(sandboxes.close)
        outbound = await stack.enter_async_context(Outbound(allow_hosts=settings.allow_hosts))
        health, lost_writes = PipelineHealth(registry), LostWrites(registry, clock)
        checkpoints = Checkpoints(
            database,
            warehouse,
            lost_writes,
            health,
            is_replicated=settings.warehouse_cluster is not None,
        )
        if with_warehouse and "pipeline" in settings.roles and is_durable(settings):
            await checkpoints.compare()
        name = _server_name()
        yield Services(
            name=name,
            settings=settings,
            clock=clock,
            database=database,
            warehouse=warehouse,
            queue=await _open_queue(database, clock, name),
            sandboxes=sandboxes,
            outbound=outbound,
            access=_access(settings, database, clock, secret_keys),
            registry=registry,
            health=health,
            lost_writes=lost_writes,
            checkpoints=checkpoints,
            secret_keys=secret_keys,
            spool_logs=await open_spool_logs(
                database, settings, stack, partial(lost_writes.report, "database")
            ),
        )


def _server_name() -> str:
    return f"{platform.node()}-{os.getpid()}-{new_id()}"


def _access(
    settings: Settings, database: Database, clock: Clock, secret_keys: Sequence[str]
) -> AccessService:
    box = SecretBox([key.encode() for key in secret_keys])
    return AccessService(database, clock, rates=_rates(settings), box=box)


async def _open_storage(
    settings: Settings, stack: AsyncExitStack, opening: Coroutine[Any, Any, Warehouse]
) -> tuple[Database, Warehouse]:
    """Open both concurrently: importing chDB takes as long as the migrations."""
    url = settings.resolved_database_url()
    with native_stderr():
        migrated, warehouse = await asyncio.gather(
            asyncio.to_thread(migrate, url), opening, return_exceptions=True
        )
        if not isinstance(warehouse, BaseException):
            stack.push_async_callback(warehouse.close)
        if isinstance(migrated, BaseException):
            raise migrated
        if isinstance(warehouse, BaseException):
            raise warehouse
    database = Database(url)
    stack.push_async_callback(database.close)
    return database, warehouse


async def _open_queue(database: Database, clock: Clock, name: str) -> SqlQueue:
    """Open the queue; on SQLite, leases of a killed server are released at once.

    Servers that share a PostgreSQL have distinct names; see :mod:`hoglet.queue.owners`.
    """
    if not database.is_sqlite:
        return SqlQueue(database, clock, owner=name)
    queue = SqlQueue(database, clock, owner="server")
    await queue.reclaim()
    return queue


async def _open_warehouse(settings: Settings) -> Warehouse:
    return await open_warehouse(
        settings.resolved_warehouse_url(),
        read_url=settings.warehouse_read_url,
        cluster=settings.warehouse_cluster,
        query_memory_bytes=settings.query_memory_bytes,
        retention=retention_of(settings),
    )


async def _unopened(settings: Settings) -> Warehouse:
    """A warehouse that connects when it is first used."""
    return ClickHouseWarehouse(settings.resolved_warehouse_url())


def retention_of(settings: Settings) -> Retention:
    """Days that rows of the warehouse are kept."""
    return Retention(
        event_days=settings.events_retention_days or None,
        log_days=settings.logs_retention_days,
        metric_days=settings.metrics_retention_days,
        query_days=settings.metrics_retention_days,
    )


def _rates(settings: Settings) -> RateSettings:
    per_key = RateLimit(
        per_minute=settings.rate_limit_burst_per_minute or None,
        per_hour=settings.rate_limit_sustained_per_hour or None,
    )
    per_project = RateLimit(
        per_minute=settings.rate_limit_project_burst_per_minute or None,
        per_hour=settings.rate_limit_project_sustained_per_hour or None,
    )
    return RateSettings(per_key=per_key, per_project=per_project)

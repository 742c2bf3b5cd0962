"""``hoglet admin warehouse``: which warehouse belongs to a database, and the nodes of a cluster."""

from typing import TYPE_CHECKING

import typer

from hoglet.cli.admin.data_folder import DataDir, NoData, in_transaction
from hoglet.cli.admin.warehouse_copy import copy

if TYPE_CHECKING:  # ClickHouse's client is not needed by the other commands
    from hoglet.settings import Settings
    from hoglet.warehouse.cluster import ClusterNode

warehouse_app = typer.Typer(help="The warehouse of a data folder.", no_args_is_help=True)
warehouse_app.command("copy")(copy)


@warehouse_app.command("adopt")
def adopt(data_dir: DataDir = None) -> None:
    """Let the next start accept the configured warehouse with its events."""
    from hoglet.app.startup.warehouse_identity import forget_warehouse

    in_transaction(data_dir, forget_warehouse)
    print("The next start accepts the configured warehouse.")


@warehouse_app.command("sync")
def sync(data_dir: DataDir = None) -> None:
    """Create hoglet's tables on nodes of the cluster that lack them, such as new ones."""
    import asyncio

    from hoglet.settings import load_settings

    nodes = asyncio.run(_sync(load_settings(data_dir=data_dir)))
    for node in nodes:
        print(f"{node.name}: {'lacks ' + ', '.join(node.missing) if node.missing else 'complete'}")
    if any(node.missing for node in nodes):
        raise typer.Exit(1)


async def _sync(settings: "Settings") -> "list[ClusterNode]":
    from hoglet.app.services.container import retention_of
    from hoglet.warehouse import ClickHouseWarehouse
    from hoglet.warehouse.cluster import create_own_tables, nodes
    from hoglet.warehouse.retention import apply_retention
    from hoglet.warehouse.schema import create_everywhere, table_names

    cluster = settings.warehouse_cluster
    if cluster is None:
        raise NoData("HOGLET_WAREHOUSE_CLUSTER is not set: only a cluster has nodes to sync.")
    warehouse = ClickHouseWarehouse(settings.resolved_warehouse_url(), cluster=cluster)
    try:
        retention = retention_of(settings)
        await create_everywhere(warehouse, cluster, retention=retention)
        await apply_retention(warehouse, retention, cluster=cluster, is_forced=True)
        own = await create_own_tables(warehouse, cluster)
        return await nodes(warehouse, cluster, table_names(cluster=cluster) | set(own))
    finally:
        await warehouse.close()

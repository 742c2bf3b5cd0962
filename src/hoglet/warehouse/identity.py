"""The identity of a warehouse: an id that is stored in it once and never changes.

The metadata database stores the id as well, so that a server never uses the wrong warehouse.

Source: docs/adr/0019-warehouse-identity.md.
"""

from uuid import UUID

from hoglet.warehouse.port import STARTUP, Warehouse

_READ = "SELECT id FROM hoglet_identity ORDER BY created_at, id LIMIT 1"


async def warehouse_identity(warehouse: Warehouse) -> UUID | None:
    """The id stored in the warehouse; None if it has none yet."""
    rows = (await warehouse.query(_READ, budget=STARTUP)).rows
    return rows[0][0] if rows else None


async def store_warehouse_identity(warehouse: Warehouse, identity: UUID) -> UUID:
    """Store an id unless the warehouse already has one; returns the id that the warehouse has."""
    await warehouse.insert("hoglet_identity", ["id"], [[identity]])
    stored = await warehouse_identity(warehouse)
    return stored or identity

"""Fixtures every test may use."""

pytest_plugins = [
    "support.databases",
    "support.warehouses",
    "support.endpoints",
    "support.hogql_world",
]


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name bytes by their length: packed or sealed ones differ from process to process."""
    return f"{len(val)} bytes" if isinstance(val, bytes) else None

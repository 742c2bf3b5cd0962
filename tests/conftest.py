"""Fixtures every test may use."""

pytest_plugins = [
    "support.databases",
    "support.warehouses",
    "support.endpoints",
    "support.hogql_world",
]

"""Fixtures every test may use, and how generated tests are drawn."""

import os

from hypothesis import settings

# In CI the same examples every time: a new find belongs to whoever runs the tests at home, not to
# the change that happens to be checked.
settings.register_profile("ci", derandomize=True, print_blob=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

pytest_plugins = [
    "support.databases",
    "support.warehouses",
    "support.endpoints",
    "support.queries",
    "support.filter_cases",
    "support.hogql_world",
]


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name bytes by their length: packed or sealed ones differ from process to process."""
    return f"{len(val)} bytes" if isinstance(val, bytes) else None

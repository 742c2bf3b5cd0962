"""Workers of the server know every operation of ad hoc queries."""

from hoglet.app.sandbox_operations import COMPILE_OPERATIONS
from hoglet.queries.worker.operations import OPERATIONS


def test_every_operation_is_registered() -> None:
    registered = {
        name: target for name, target in COMPILE_OPERATIONS.items() if name.startswith("queries.")
    }
    assert registered == OPERATIONS

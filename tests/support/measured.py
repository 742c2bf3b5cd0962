"""Coverage of ``src/hoglet`` by the tests themselves, if ``HOGLET_TEST_COVERAGE`` is set.

Each process of a test run writes a ``.coverage.*`` file of its own. Servers and workers that tests
start are not measured.
"""

import os

from coverage import Coverage


def start_coverage() -> Coverage | None:
    """Start measuring; call this before anything imports ``hoglet``."""
    if "HOGLET_TEST_COVERAGE" not in os.environ:
        return None
    measured = Coverage(data_suffix=True)
    measured.start()
    return measured

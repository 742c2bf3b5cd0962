"""``hoglet status`` on a real server."""

import pytest
from typer.testing import CliRunner

from hoglet.cli.main import app
from hoglet.cli.status import queue_rows
from support.server import RunningServer
from support.waiting import wait_for

METRICS = """\
# TYPE hoglet_queue_jobs gauge
hoglet_queue_jobs{queue="spool",state="ready"} 3.0
hoglet_queue_jobs{queue="spool",state="failed"} 1.0
# TYPE hoglet_queue_lag_seconds gauge
hoglet_queue_lag_seconds{queue="spool"} 1.25
"""


@pytest.mark.parametrize("metrics", [METRICS, METRICS.replace("failed", "buried")])
def test_queues_are_read_from_the_metrics(metrics: str) -> None:
    assert queue_rows(metrics) == [("spool", "3", "0", "0", "1", "1.2 s")]


def test_a_running_server_shows_its_parts_and_queues(shared_server: RunningServer) -> None:
    def output() -> str:
        ran = CliRunner().invoke(app, ["status", "--url", shared_server.url])
        assert ran.exit_code == 0, ran.output
        return ran.output

    printed = wait_for(output, lambda text: "spool" in text)

    assert "warehouse ok" in printed
    assert "functions.invoke" in printed
    assert "0 properties with a column of their own" in printed

"""Prometheus itself on ``deploy/prometheus.yml``, the alerts and the dashboard."""

import json
import subprocess
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from support.deploy import ALERTS, COMPOSE, DASHBOARD, PROMETHEUS
from support.server import RunningServer, free_port

SECONDS = 60
_CASES = Path(__file__).with_name("alerts.yaml")


def test_alerts_fire_and_are_silent_when_they_must() -> None:
    command = ["promtool", "test", "rules", _CASES]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)

    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_each_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not() -> None:
    (group,) = yaml.safe_load(ALERTS.read_text())["groups"]
    cases = [
        (rule["alertname"], bool(rule["exp_alerts"]))
        for case in yaml.safe_load(_CASES.read_text())["tests"]
        for rule in case["alert_rule_test"]
    ]

    names = {rule["alert"] for rule in group["rules"]}
    assert set(cases) == {(name, fires) for name in names for fires in (True, False)}


def test_the_configuration_names_the_servers_of_the_cluster() -> None:
    services = yaml.safe_load(COMPOSE[1].read_text())["services"]
    (job,) = yaml.safe_load(PROMETHEUS.read_text())["scrape_configs"]

    servers = [f"{name}:8000" for name, service in services.items() if "build" in service]
    assert job["static_configs"] == [{"targets": servers}]


@pytest.fixture
def prometheus(server: RunningServer, tmp_path: Path) -> Generator[httpx.Client]:
    """A client of Prometheus that scrapes the server each second, with nothing else changed."""
    configuration = yaml.safe_load(PROMETHEUS.read_text())
    (job,) = configuration["scrape_configs"]
    job["static_configs"] = [{"targets": [server.url.removeprefix("http://")]}]
    configuration["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    file = tmp_path / "prometheus.yml"
    file.write_text(yaml.safe_dump(configuration))
    (tmp_path / "alerts.yaml").write_bytes(ALERTS.read_bytes())
    address = f"127.0.0.1:{free_port()}"
    options = [f"--config.file={file}", f"--storage.tsdb.path={tmp_path / 'data'}"]
    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(
            ["prometheus", *options, f"--web.listen-address={address}"], stdout=log, stderr=log
        ) as process,
        httpx.Client(base_url=f"http://{address}/api/v1") as client,
    ):
        try:
            yield client
        finally:
            process.terminate()


def query(prometheus: httpx.Client, expression: str) -> list[dict[str, Any]]:
    response = prometheus.get("/query", params={"query": expression}).json()
    assert response["status"] == "success", (expression, response)
    return response["data"]["result"]


def test_it_scrapes_a_server_and_answers_each_panel(
    prometheus: httpx.Client, server: RunningServer
) -> None:
    panels = json.loads(DASHBOARD.read_text())["panels"]
    expressions = [target["expr"] for panel in panels for target in panel["targets"]]
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline and not _scraped_twice(prometheus):
        time.sleep(0.2)

    (up,) = query(prometheus, "up")
    assert up["metric"]["job"] == "hoglet"
    assert up["value"][1] == "1"
    for expression in expressions:
        text = expression.replace("$__rate_interval", "10s").replace("$instance", ".*")
        assert query(prometheus, text), expression  # on a new server, too: 0, not "No data"
    rules = prometheus.get("/rules").json()["data"]["groups"][0]["rules"]
    assert {rule["health"] for rule in rules} == {"ok"}


def _scraped_twice(prometheus: httpx.Client) -> bool:
    """Whether rates can be calculated, and each rule was evaluated."""
    try:
        counted = query(prometheus, "count_over_time(hoglet_dead_letters[1m]) >= 3")
        rules = prometheus.get("/rules").json()["data"]["groups"][0]["rules"]
    except httpx.TransportError:  # it is starting
        return False
    return bool(counted) and all(rule["health"] == "ok" for rule in rules)

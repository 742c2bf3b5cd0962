"""Prometheus itself on ``deploy/prometheus.yml``, the alerts and the dashboard."""

import json
import subprocess
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from support.deploy import ALERTS, COMPOSE, DASHBOARD, PROMETHEUS
from support.server import RunningServer, free_port

SECONDS = 120
_CASES = Path(__file__).with_name("alerts.yaml")
_BIN = Path(__file__).parent / "tools" / "prometheus" / "usr" / "bin"


def test_alerts_fire_and_are_silent_when_they_must() -> None:
    command = [_BIN / "promtool", "test", "rules", _CASES]
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
    """A client of Prometheus that scrapes the server every two seconds; the rest is as deployed."""
    configuration = yaml.safe_load(PROMETHEUS.read_text())
    (job,) = configuration["scrape_configs"]
    job["static_configs"] = [{"targets": [server.url.removeprefix("http://")]}]
    configuration["global"] = {"scrape_interval": "2s", "evaluation_interval": "2s"}
    file = tmp_path / "prometheus.yml"
    file.write_text(yaml.safe_dump(configuration))
    (tmp_path / "alerts.yaml").write_bytes(ALERTS.read_bytes())
    address = f"127.0.0.1:{free_port()}"
    options = [f"--config.file={file}", f"--storage.tsdb.path={tmp_path / 'data'}"]
    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(
            [_BIN / "prometheus", *options, f"--web.listen-address={address}"],
            stdout=log,
            stderr=log,
        ) as process,
        httpx.Client(base_url=f"http://{address}/api/v1", timeout=30) as client,
    ):
        try:
            yield client
        finally:
            process.terminate()


def query(prometheus: httpx.Client, expression: str) -> list[dict[str, Any]]:
    response = prometheus.get("/query", params={"query": expression}).json()
    assert response["status"] == "success", (expression, response)
    return response["data"]["result"]


def test_it_scrapes_a_server_and_answers_each_panel(prometheus: httpx.Client) -> None:
    """On a new server, too: a panel shows 0, not "No data"."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    expressions = [target["expr"] for panel in panels for target in panel["targets"]]
    deadline = time.monotonic() + SECONDS
    while missing := _missing(prometheus, expressions):
        assert time.monotonic() < deadline, missing
        time.sleep(0.5)

    (job,) = {each["metric"]["job"] for each in query(prometheus, "up")}
    assert job == "hoglet"


def _missing(prometheus: httpx.Client, expressions: Sequence[str]) -> list[str]:
    """What has no result yet; on a busy machine, a scrape may take longer than it may."""
    try:
        rules = prometheus.get("/rules").json()["data"]["groups"][0]["rules"]
    except httpx.TransportError:
        return ["it is starting"]
    missing = [rule["name"] for rule in rules if rule["health"] != "ok"]
    for expression in expressions:
        text = expression.replace("$__rate_interval", "1m").replace("$instance", ".*")
        if not query(prometheus, text):
            missing.append(expression)
    return missing

"""``/metrics`` counts what was done; the dashboard and alerts use existing metrics."""

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import promql_parser
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from support.deploy import ALERTS, DASHBOARD, ROOT
from support.receiver import Receiver
from support.server import TOKEN, RunningServer

EVENTS = 7
SECONDS = 90


class Metrics:
    """The samples of a server: ``value("hoglet_deliveries_total", outcome="failed")``."""

    def __init__(self, server: RunningServer) -> None:
        families = list(text_string_to_metric_families(server.client.get("/metrics").text))
        self.samples = [sample for family in families for sample in family.samples]

    def names(self) -> set[str]:
        return {sample.name for sample in self.samples}

    def labels(self, name: str) -> set[str]:
        return set[str]().union(*(each.labels for each in self.samples if each.name == name))

    def value(self, name: str, **labels: str) -> float:
        return sum(
            sample.value
            for sample in self.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory):
    """A server that stored seven events, delivered two runs, abandoned one and answered queries."""
    receiver = Receiver()
    running = RunningServer(tmp_path_factory.mktemp("metrics") / "data").start()
    for event, hog in (("good", f"fetch('{receiver.url}/x')"), ("bad", "throw Error('no')")):
        running.client.post(
            "/api/projects/1/hog_functions/",
            json={
                "type": "destination",
                "enabled": True,
                "filters": {"events": [{"id": event, "type": "events"}]},
                "hog": hog,
            },
        ).raise_for_status()
    names = ["good", "good", "bad"] + ["other"] * (EVENTS - 3)
    batch = [{"event": name, "distinct_id": f"u{index}"} for index, name in enumerate(names)]
    running.client.post("/batch/", json={"api_key": TOKEN, "batch": batch}).raise_for_status()
    for sql in ("SELECT 1", "SELECT 1", "SELECT throwIf(1)"):
        query = {"kind": "HogQLQuery", "query": sql}
        running.client.post("/api/projects/1/query/", json={"query": query})
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline and not _is_done(Metrics(running)):
        time.sleep(0.3)
    yield running
    running.stop()
    receiver.close()


def _is_done(metrics: Metrics) -> bool:
    ended = metrics.value("hoglet_delivery_seconds_count")
    queue_was_measured = "hoglet_spool_lag_seconds" in metrics.names()
    return ended == 3 and metrics.value("hoglet_dead_letters") == 1 and queue_was_measured


def test_events_and_deliveries_are_counted(server: RunningServer) -> None:
    metrics = Metrics(server)

    internal = metrics.value("hoglet_events_stored_total") - EVENTS
    assert internal >= 0  # hoglet's own events about functions may be among them
    assert metrics.value("hoglet_deliveries_total", outcome="succeeded") == 2
    assert metrics.value("hoglet_deliveries_total", outcome="failed") == 1
    assert metrics.value("hoglet_delivery_seconds_count") == 3
    assert metrics.value("hoglet_warehouse_insert_seconds_count") >= 1


def test_queries_are_counted_by_how_they_were_answered(server: RunningServer) -> None:
    metrics = Metrics(server)

    assert metrics.value("hoglet_queries_total", answered="engine") == 1
    assert metrics.value("hoglet_queries_total", answered="cache") == 1
    assert metrics.value("hoglet_queries_total", answered="error") == 1
    assert metrics.value("hoglet_query_seconds_count") == 3


def test_the_dashboard_shows_each_metric(server: RunningServer) -> None:
    panels = json.loads(DASHBOARD.read_text())["panels"]
    used = {
        name
        for panel in panels
        for target in panel["targets"]
        for name in re.findall(r"hoglet_\w+", target["expr"])
    }

    assert len(panels) >= 10
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert used <= Metrics(server).names()
    page = server.client.get("/metrics").text
    families = {family.name for family in text_string_to_metric_families(page)}
    plotted = {re.sub("_(total|bucket)$", "", name) for name in used}
    own = {name for name in families if re.fullmatch(r"hoglet_\w+(?<!_created)", name)}
    assert own - plotted == set()


def test_every_alert_has_a_metric_and_a_runbook(server: RunningServer) -> None:
    (group,) = yaml.safe_load(ALERTS.read_text())["groups"]
    runbooks = (ROOT / "docs" / "runbooks.md").read_text()
    names = Metrics(server).names()

    for rule in group["rules"]:
        assert set(re.findall(r"hoglet_\w+", rule["expr"])) <= names
        assert f"\n## {rule['alert']}\n" in runbooks


def test_alerts_of_losses_include_those_noticed_at_the_start(server: RunningServer) -> None:
    """``increase`` ignores the first sample of a series, which may be above 0 already."""
    (group,) = yaml.safe_load(ALERTS.read_text())["groups"]
    watched = {rule["alert"]: rule["expr"] for rule in group["rules"]}

    for name in ("hoglet_spool_losses_total", "hoglet_lost_writes_total"):
        assert name in Metrics(server).names()
        (expression,) = [each for each in watched.values() if name in each]
        assert f"{name} unless {name} offset 1h" in expression


def test_refused_requests_are_watched(server: RunningServer) -> None:
    """Nothing else shows that captured events are refused while none wait to be stored."""
    (group,) = yaml.safe_load(ALERTS.read_text())["groups"]
    (expression,) = [r["expr"] for r in group["rules"] if r["alert"] == "RequestsFailing"]
    (left_out,) = set(re.findall(r'route!~"([^"]+)"', expression))
    routes = {
        sample.labels["route"]: bool(re.fullmatch(left_out, sample.labels["route"]))
        for sample in Metrics(server).samples
        if sample.name == "hoglet_http_requests_total"
    }

    assert routes["/batch"] is False
    assert routes["/_health"] is True


def test_the_dashboard_and_alerts_are_promql(server: RunningServer) -> None:
    metrics = Metrics(server)
    expressions = list(_expressions())
    assert len(expressions) >= 30

    for text in expressions:
        for part in _parts(promql_parser.parse(text.replace("$__rate_interval", "5m"))):
            used = set(re.findall(r"hoglet_\w+", part.prettify()))
            if used <= metrics.names():  # others have no sample yet, and no labels
                assert _labels(part) <= {"instance", "job"}.union(*map(metrics.labels, used)), text


def _labels(part: Any) -> set[str]:
    """The labels that a part of an expression names itself."""
    if isinstance(part, promql_parser.VectorSelector):
        return {matcher.name for matcher in part.matchers.matchers}
    if isinstance(part, promql_parser.AggregateExpr) and part.modifier is not None:
        return set(part.modifier.labels)
    return set()


def _expressions() -> Iterator[str]:
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        yield from (target["expr"] for target in panel["targets"])
    (group,) = yaml.safe_load(ALERTS.read_text())["groups"]
    yield from (rule["expr"] for rule in group["rules"])


def _parts(expression: Any) -> Iterator[Any]:
    """An expression and all that it consists of."""
    yield expression
    for name in ("lhs", "rhs", "expr", "vector_selector"):
        if hasattr(expression, name):
            yield from _parts(getattr(expression, name))
    for argument in getattr(expression, "args", ()):
        yield from _parts(argument)

"""End-to-end flows: capture, functions, deliveries, dead letters."""

import gzip
import time
from typing import Any

import httpx
import pytest

from acceptance.conftest import CaseStage
from support.server import KEY
from support.waiting import wait_for


class Project:
    """Short words for what the flows do in one project."""

    def __init__(self, stage: CaseStage) -> None:
        self.stage = stage
        self.client = stage.client
        self.client.headers["Authorization"] = f"Bearer {KEY}"
        self.base = f"/api/projects/{stage.project.id}"
        self.receiver = stage.world.receiver

    def function(self, **body: Any) -> str:
        answer = self.client.post(f"{self.base}/hog_functions", json={"enabled": True} | body)
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]

    def change(self, function_id: str, **body: Any) -> dict[str, Any]:
        answer = self.client.patch(f"{self.base}/hog_functions/{function_id}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def read(self, path: str, **params: Any) -> Any:
        answer = self.client.get(f"{self.base}/{path}", params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def capture(self, *events: dict[str, Any], **more: Any) -> None:
        body = {"api_key": self.stage.project.api_token, "batch": list(events)} | more
        answer = self.client.post("/batch/", json=body)
        assert answer.status_code == 200, answer.text

    def select(self, sql: str) -> list[list[Any]]:
        name = f"q{time.monotonic_ns()}"
        query = {"kind": "HogQLQuery", "query": sql}
        response = self.client.post(f"{self.base}/endpoints", json={"name": name, "query": query})
        assert response.status_code == 201, response.text
        answer = self.client.post(f"{self.base}/endpoints/{name}/run", json={"refresh": "force"})
        assert answer.status_code == 200, answer.text
        return answer.json()["results"]

    def dead_letters(self, function_id: str) -> list[dict[str, Any]]:
        return self.read(f"hog_functions/{function_id}/dead_letters")["results"]

    def totals(self, function_id: str) -> dict[str, int]:
        return self.read(
            f"hog_functions/{function_id}/metrics/totals", breakdown_by="name", after="-1d"
        )["totals"]


@pytest.fixture
def project(stage: CaseStage) -> Project:
    return Project(stage)


def event(name: str = "bought", distinct_id: str = "u1", **properties: Any) -> dict[str, Any]:
    return {"event": name, "distinct_id": distinct_id, "properties": properties}


def calling(project: Project, path: str) -> dict[str, Any]:
    return {
        "hog": "fetch(inputs.url, {'method': 'POST', 'body': inputs.body})",
        "inputs_schema": [
            {"key": "url", "type": "string", "required": True},
            {"key": "body", "type": "json"},
        ],
        "inputs": {
            "url": {"value": project.receiver.url + path},
            "body": {"value": {"event": "{event.event}", "n": "{event.properties.n}"}},
        },
    }


def test_a_destination_delivers_matching_events(project: Project) -> None:
    path = f"/deliver-{project.stage.project.id}"
    filters = {"events": [{"id": "bought", "type": "events"}]}
    function_id = project.function(filters=filters, **calling(project, path))
    project.capture(event(n=1), event("other", n=2), event(n=3))
    wait_for(lambda: project.receiver.at(path), lambda value: len(value) == 2)
    first = project.receiver.at(path)[0]
    assert first.headers["x-hoglet-attempt"] == "1"
    assert first.headers["x-hoglet-delivery"]
    assert "hoglet" in first.headers["user-agent"].lower()
    assert '"event":"bought"' in first.body.replace(" ", "")
    counts = wait_for(
        lambda: project.totals(function_id), lambda value: value.get("succeeded") == 2
    )
    assert counts["triggered"] == 2
    assert counts["filtered"] == 1
    kinds = project.read(f"hog_functions/{function_id}/metrics/totals", after="-1d")["totals"]
    assert kinds["success"] == 2
    logs = wait_for(lambda: project.read(f"hog_functions/{function_id}/logs")["results"])
    assert {entry["level"] for entry in logs} == {"DEBUG"}
    assert {entry["log_source_id"] for entry in logs} == {function_id}
    series = project.read(f"hog_functions/{function_id}/metrics", interval="hour", after="-3h")
    assert {each["name"] for each in series["series"]} >= {"success", "other"}


def test_a_failure_is_retried_and_then_succeeds(project: Project) -> None:
    path = f"/status/503/503/200/retry-{project.stage.project.id}"
    retry = {"max_attempts": 5, "initial_delay_seconds": 0.1}
    function_id = project.function(retry=retry, **calling(project, path))
    project.capture(event())
    wait_for(lambda: project.totals(function_id), lambda value: value.get("succeeded") == 1)
    deliveries = project.receiver.at(path)
    assert [each.headers["x-hoglet-attempt"] for each in deliveries] == ["1", "2", "3"]
    assert len({each.headers["x-hoglet-delivery"] for each in deliveries}) == 1
    assert project.dead_letters(function_id) == []
    assert project.totals(function_id)["retried"] == 2


def test_a_refused_delivery_is_a_dead_letter_and_can_be_redriven(project: Project) -> None:
    path = f"/status/400/200/dead-{project.stage.project.id}"
    function_id = project.function(**calling(project, path))
    project.capture(event(n=5))
    letter = wait_for(lambda: project.dead_letters(function_id))[0]
    assert letter.keys() == {
        "id", "class", "invocation_id", "event_uuid", "event", "distinct_id", "attempts",
        "error", "first_failed_at", "last_failed_at", "redriven_at",
    }  # fmt: skip
    assert (letter["class"], letter["event"], letter["redriven_at"]) == ("fetch", "bought", None)
    detail = project.read(f"hog_functions/{function_id}/dead_letters/{letter['id']}")
    assert detail["globals"]["event"]["properties"]["n"] == 5
    assert (
        project.read(f"hog_functions/{function_id}/dead_letters", **{"class": "hog"})["count"] == 0
    )

    redrive = f"{project.base}/hog_functions/{function_id}/dead_letters/redrive"
    answer = project.client.post(redrive, json={"ids": [letter["id"]]})
    assert answer.json() == {"queued": 1, "skipped": 0}
    wait_for(lambda: project.totals(function_id), lambda value: value.get("succeeded") == 1)
    assert wait_for(lambda: project.dead_letters(function_id)[0]["redriven_at"])
    ids = {each.headers["x-hoglet-delivery"] for each in project.receiver.at(path)}
    assert len(ids) == 1
    gone = project.client.delete(
        f"{project.base}/hog_functions/{function_id}/dead_letters/{letter['id']}"
    )
    assert (gone.status_code, gone.content) == (204, b"")
    assert project.dead_letters(function_id) == []


@pytest.mark.parametrize(
    ("hog", "kind"),
    [
        ("throw Error('no')", "hog"),
        ("while (true) {}", "timeout"),
        ("fetch('http://169.254.169.254/')", "fetch"),
        ("fetch('http://[::1]:1/')", "fetch"),
        ("let a := 'x'; while (true) { a := concat(a, a) }", "timeout"),
    ],
)
def test_failures_have_classes(project: Project, hog: str, kind: str) -> None:
    function_id = project.function(hog=hog)
    project.capture(event())
    letter = wait_for(lambda: project.dead_letters(function_id))[0]
    assert letter["class"] == kind
    assert letter["attempts"] <= 1
    logs = wait_for(
        lambda: project.read(f"hog_functions/{function_id}/logs", level="error")["results"]
    )
    assert logs


def test_inputs_that_fail_do_not_run(project: Project) -> None:
    function_id = project.function(
        hog="print('ran')",
        inputs_schema=[{"key": "a", "type": "string"}],
        inputs={"a": {"value": "{noSuchThing()}"}},
    )
    project.capture(event())
    assert wait_for(lambda: project.dead_letters(function_id))[0]["class"] == "inputs"
    counts = wait_for(lambda: project.totals(function_id))
    assert counts["inputs_failed"] == 1
    assert "succeeded" not in counts


def test_secrets_reach_the_outside_only(project: Project) -> None:
    path = f"/secret-{project.stage.project.id}"
    function_id = project.function(
        hog="print(inputs.token); fetch(inputs.url, {'method': 'POST', 'headers': "
        "{'Authorization': f'Bearer {inputs.token}'}, 'body': {}})",
        inputs_schema=[
            {"key": "url", "type": "string"},
            {"key": "token", "type": "string", "secret": True},
        ],
        inputs={
            "url": {"value": project.receiver.url + path},
            "token": {"value": "t0p-s3cret-value"},
        },
    )
    project.capture(event())
    delivery = wait_for(lambda: project.receiver.at(path))[0]
    assert delivery.headers["authorization"] == "Bearer t0p-s3cret-value"
    logs = wait_for(lambda: project.read(f"hog_functions/{function_id}/logs")["results"])
    assert "t0p-s3cret-value" not in str(logs)


def test_masking_lets_one_of_each_value_through(project: Project) -> None:
    path = f"/masked-{project.stage.project.id}"
    masking = {"ttl": 60, "hash": "{event.distinct_id}"}
    function_id = project.function(masking=masking, **calling(project, path))
    project.capture(event(), event(), event(distinct_id="u2"))
    wait_for(lambda: project.totals(function_id), lambda value: value.get("masked") == 1)
    wait_for(lambda: project.receiver.at(path), lambda value: len(value) == 2)


def test_mappings_give_an_invocation_each(project: Project) -> None:
    path = f"/mapped-{project.stage.project.id}"
    body = calling(project, path) | {
        "inputs_schema": [{"key": "url", "type": "string"}],
        "inputs": {"url": {"value": project.receiver.url + path}},
    }
    mapped = {
        "inputs_schema": [{"key": "body", "type": "json"}],
        "filters": {"events": [{"id": "bought", "type": "events"}]},
    }
    project.function(
        **body,
        mappings=[
            mapped | {"inputs": {"body": {"value": {"m": 1}}}},
            mapped | {"inputs": {"body": {"value": {"m": 2}}}},
            mapped | {"inputs": {"body": {"value": {"m": 3}}}, "disabled": True},
        ],
    )
    project.capture(event(), event("other"))
    requests = wait_for(lambda: project.receiver.at(path), lambda requests: len(requests) >= 2)
    time.sleep(0.5)
    assert sorted(each.body.replace(" ", "") for each in requests) == ['{"m":1}', '{"m":2}']


def test_transformations_change_and_drop_events(project: Project) -> None:
    changed = project.function(
        type="transformation",
        name="Mark",
        hog="let e := event; e.properties.marked := event.event; return e",
    )
    project.function(
        type="transformation",
        hog="if (event.event == 'spam') { return null } return event",
    )
    project.function(type="transformation", hog="throw Error('broken')")
    project.capture(event("fine"), event("spam"))
    rows = wait_for(lambda: project.select("SELECT event, properties.marked FROM events"))
    assert rows == [["fine", "fine"]]
    reported = project.select("SELECT properties.$transformations_succeeded FROM events")
    assert changed in str(reported)
    failed = project.select("SELECT properties.$transformations_failed FROM events")
    assert failed[0][0]


def test_historical_events_do_not_trigger(project: Project) -> None:
    path = f"/historical-{project.stage.project.id}"
    project.function(**calling(project, path))
    project.capture(event(), historical_migration=True)
    project.capture(event("now"))
    wait_for(lambda: project.receiver.at(path))
    wait_for(lambda: project.select("SELECT count() FROM events"), lambda rows: rows == [[2]])
    assert len(project.receiver.at(path)) == 1


def test_the_same_event_twice_triggers_once(project: Project) -> None:
    path = f"/twice-{project.stage.project.id}"
    project.function(**calling(project, path))
    sent = event() | {"uuid": "01890000-0000-7000-8000-00000000abcd"}
    project.capture(sent)
    wait_for(lambda: project.receiver.at(path))
    project.capture(sent, event("last"))
    wait_for(lambda: project.receiver.at(path), lambda value: len(value) == 2)
    assert project.select("SELECT count() FROM events") == [[2]]


def test_internal_destinations_hear_of_changes(project: Project) -> None:
    path = f"/internal-{project.stage.project.id}"
    filters = {"events": [{"id": "$activity_log_entry_created", "type": "events"}]}
    project.function(type="internal_destination", filters=filters, **calling(project, path))
    other = project.function(hog="return 1")
    project.change(other, name="renamed")
    wait_for(lambda: project.receiver.at(path))


def test_person_updates_trigger(project: Project) -> None:
    path = f"/person-{project.stage.project.id}"
    body = calling(project, path)
    body["inputs"]["body"] = {"value": {"who": "{person.properties.plan}"}}
    project.function(filters={"source": "person-updates"}, **body)
    project.capture(event(**{"$set": {"plan": "pro"}}))
    requests = wait_for(lambda: project.receiver.at(path))
    assert "pro" in requests[0].body


def test_compressed_batches(project: Project) -> None:
    token = project.stage.project.api_token
    text = f'{{"api_key": "{token}", "batch": [{{"event": "zipped", "distinct_id": "d"}}]}}'
    packed = gzip.compress(text.encode())
    ways: list[dict[str, Any]] = [
        {"headers": {"Content-Encoding": "gzip"}},
        {"params": {"compression": "gzip"}},
        {"params": {"compression": "gzip-js"}},
    ]
    for way in ways:
        assert project.client.post("/batch/", content=packed, **way).status_code == 200
    bomb = gzip.compress(b" " * 30_000_000)
    answer = project.client.post(
        "/batch/", content=bomb, headers={"Content-Encoding": "gzip"}, params={"token": token}
    )
    assert answer.status_code == 413
    wait_for(lambda: project.select("SELECT count() FROM events"), lambda rows: rows == [[3]])


def test_a_terraform_shaped_life(project: Project) -> None:
    """Create, read without drift, update in place, read without drift, destroy."""
    base = f"/api/environments/{project.stage.project.id}/hog_functions/"
    expected = {
        "name": "Managed",
        "type": "destination",
        "enabled": True,
        "hog": "fetch(inputs.url)\n",
        "inputs_schema": [
            {"key": "url", "type": "string", "required": True, "label": "URL"},
            {"key": "token", "type": "string", "secret": True},
        ],
        "inputs": {"url": {"value": "https://example.com"}, "token": {"value": "abc-123"}},
        "filters": {
            "events": [{"id": "$pageview", "name": "$pageview", "type": "events", "order": 0}]
        },
        "masking": {"ttl": 60, "threshold": None, "hash": "{event.distinct_id}"},
    }
    response = project.client.post(base, json=expected)
    assert response.status_code == 201, response.text
    where = f"{base}{response.json()['id']}/"

    def drift() -> list[str]:
        seen = project.client.get(where).json()
        return [path for path in differences(expected, seen) if not path.startswith("inputs.token")]

    assert drift() == ["hog"]  # stripped; Terraform's provider compares trimmed code
    expected |= {"hog": "fetch(inputs.url)", "name": "Changed", "enabled": False}
    del expected["inputs"]["token"]
    changed = project.client.patch(where, json=expected)
    assert changed.status_code == 200
    assert drift() == []
    assert project.client.get(where).json()["inputs"]["token"] == {"secret": True}
    again = project.client.patch(where, json=expected).json()
    assert again["inputs"] == changed.json()["inputs"]
    gone = project.client.patch(where, json={"deleted": True})
    assert gone.status_code == 200
    assert project.client.get(where).status_code == 404


def differences(expected: Any, seen: Any, path: str = "") -> list[str]:
    """Paths of ``expected`` whose values differ in ``seen``; additional keys are ignored."""
    if isinstance(expected, dict) and isinstance(seen, dict):
        differing: list[str] = []
        for key, value in expected.items():
            differing += differences(value, seen.get(key), f"{path}.{key}".strip("."))
        return differing
    if isinstance(expected, list) and isinstance(seen, list) and len(expected) == len(seen):
        pairs = enumerate(zip(expected, seen, strict=True))
        return [each for n, (a, b) in pairs for each in differences(a, b, f"{path}.{n}")]
    return [] if expected == seen else [path]


def test_at_most_twenty_transformations_are_enabled(project: Project) -> None:
    ids = [project.function(type="transformation", hog="return event") for _ in range(20)]
    body = {"type": "transformation", "hog": "return event", "enabled": True}
    refused = project.client.post(f"{project.base}/hog_functions", json=body)
    assert (refused.status_code, refused.json()["attr"]) == (400, "type")
    project.change(ids[0], deleted=True)
    project.function(type="transformation", hog="return event")


def test_a_destination_of_pages(project: Project) -> None:
    for number in range(12):
        project.function(hog="return 1", name=f"f{number}", enabled=False)
    seen: list[str] = []
    url: str | None = f"{project.base}/hog_functions/?limit=5"
    while url:
        page = project.client.get(url).json()
        assert page["count"] == 12
        seen += [each["name"] for each in page["results"]]
        url = page["next"]
    assert seen == [f"f{number}" for number in reversed(range(12))]


def test_fetch_to_a_host_that_is_not_allowed_is_not_retried(project: Project) -> None:
    function_id = project.function(hog="let r := fetch('http://10.0.0.1/'); print(r.status)")
    project.capture(event())
    letter = wait_for(lambda: project.dead_letters(function_id))[0]
    assert letter["class"] == "fetch"
    assert "not allowed" in letter["error"].lower()


def test_non_failure_status_codes(project: Project) -> None:
    path = f"/status/404/fine-{project.stage.project.id}"
    body = calling(project, path)
    body["inputs_schema"].append({"key": "codes", "type": "non_failure_status_codes"})
    body["inputs"]["codes"] = {"value": ["4xx"]}
    function_id = project.function(**body)
    project.capture(event())
    wait_for(lambda: project.totals(function_id), lambda value: value.get("succeeded") == 1)
    assert project.dead_letters(function_id) == []


def test_backfills_run_stored_events(project: Project) -> None:
    path = f"/backfill-{project.stage.project.id}"
    stamped = event(n=1) | {"timestamp": "2026-01-05T12:00:00Z"}
    project.capture(stamped, stamped | {"event": "later", "timestamp": "2026-01-09T12:00:00Z"})
    wait_for(lambda: project.select("SELECT count() FROM events"), lambda rows: rows == [[2]])
    function_id = project.function(**calling(project, path))
    response = project.client.post(f"{project.base}/hog_functions/{function_id}/enable_backfills")
    export = response.json()["batch_export_id"]
    window = {"start_at": "2026-01-05T00:00:00Z", "end_at": "2026-01-06T00:00:00Z"}
    started = project.client.post(f"{project.base}/batch_exports/{export}/backfills", json=window)
    assert started.status_code == 201, started.text
    requests = wait_for(lambda: project.receiver.at(path))
    time.sleep(0.3)
    assert len(requests) == 1


def test_a_lost_client_does_no_harm(project: Project) -> None:
    query = {
        "kind": "HogQLQuery",
        "query": "SELECT sum(cityHash64(number)) FROM numbers(100000000000)",
    }
    project.client.post(f"{project.base}/endpoints", json={"name": "slow", "query": query})
    with pytest.raises(httpx.ReadTimeout):
        project.client.post(f"{project.base}/endpoints/slow/run", json={}, timeout=0.3)
    assert project.select("SELECT 1") == [[1]]

"""Flows that check the metrics and logs of runs: each entry exactly once."""

from typing import Any

from acceptance.test_flows import Project, event, project, wait_for

__all__ = ["project"]

URL = [{"key": "url", "type": "string"}]


def _ended(project: Project, function_id: str) -> dict[str, int]:
    ends = {"succeeded", "failed", "inputs_failed"}
    return wait_for(lambda: project.totals(function_id), lambda value: ends & value.keys())


def _lines(project: Project, function_id: str, **params: Any) -> list[dict[str, Any]]:
    return project.read(f"hog_functions/{function_id}/logs", limit=500, **params)["results"]


def _url(project: Project, path: str) -> dict[str, Any]:
    return {"url": {"value": f"{project.receiver.url}/{path}/run-{project.stage.project.id}"}}


def test_inputs_that_cannot_be_built_are_no_run(project: Project) -> None:
    """Inputs come before the watcher, masking and the count of triggered runs (13.1)."""
    function_id = project.function(
        hog="return 1",
        inputs_schema=[{"key": "a", "type": "string"}],
        inputs={"a": {"value": "{noSuchFunction(event.event)}"}},
        masking={"ttl": 60, "hash": "same"},
    )
    project.capture(event(), event())
    wait_for(lambda: project.totals(function_id).get("inputs_failed") == 2)

    assert project.totals(function_id) == {"inputs_failed": 2, "dead_lettered": 2}
    assert {letter["class"] for letter in project.dead_letters(function_id)} == {"inputs"}
    lines = _lines(project, function_id, level="error")
    assert len(lines) == 2
    for letter in project.dead_letters(function_id):
        assert any(letter["event_uuid"] in line["message"] for line in lines)
    project.change(function_id, inputs={"a": {"value": "fine"}})
    answer = project.client.post(
        f"{project.base}/hog_functions/{function_id}/dead_letters/redrive", json={"all": True}
    )
    assert answer.json() == {"queued": 2, "skipped": 0}
    wait_for(lambda: project.totals(function_id).get("succeeded") == 2)


def test_a_listed_status_is_no_failure_and_not_tried_again(project: Project) -> None:
    function_id = project.function(
        hog="fetch(inputs.url)",
        inputs_schema=[*URL, {"key": "codes", "type": "non_failure_status_codes"}],
        inputs={**_url(project, "503"), "codes": {"value": ["5xx"]}},
    )
    project.capture(event())

    counts = _ended(project, function_id)
    assert counts == {"triggered": 1, "fetch": 1, "succeeded": 1, "billable_invocation": 1}
    lines = _lines(project, function_id)
    assert [line["level"] for line in lines] == ["DEBUG", "INFO"]
    assert "503" in lines[1]["message"]


def test_the_lines_of_a_run_are_in_the_order_of_the_program(project: Project) -> None:
    """Also when a webhook began it and the queue goes on with it at once."""
    hog = "for (let i := 0; i < 24; i := i + 1) { print(i) } fetch(inputs.url)"
    webhook = project.function(
        type="source_webhook", hog=hog, inputs_schema=URL, inputs=_url(project, "ordered")
    )
    assert project.client.post(f"/public/webhooks/{webhook}", json={}).status_code == 201
    _ended(project, webhook)

    lines = wait_for(lambda: _lines(project, webhook), lambda value: len(value) == 25)
    assert [line["message"] for line in lines[:0:-1]] == [str(number) for number in range(24)]
    assert lines[0]["level"] == "DEBUG"
    stamps = [line["timestamp"] for line in lines]
    assert len(set(stamps)) == 25
    assert stamps == sorted(stamps, reverse=True)


def test_metrics_of_one_run_are_found_by_its_id(project: Project) -> None:
    function_id = project.function(hog="if (event.event == 'bad') { throw Error('x') }")
    project.capture(event("good"), event("bad"))
    wait_for(lambda: {"succeeded", "failed"} <= project.totals(function_id).keys())

    run = project.dead_letters(function_id)[0]["invocation_id"]
    path = f"hog_functions/{function_id}/metrics"
    metrics = project.read(path, instance_id=run, breakdown_by="name", interval="day", after="-1d")
    assert {each["name"]: sum(each["values"]) for each in metrics["series"]} == {
        "failed": 1,
        "dead_lettered": 1,
    }
    assert {line["instance_id"] for line in _lines(project, function_id, level="error")} == {run}
    assert "succeeded" in project.totals(function_id)  # totals ignore the run


def test_a_function_cannot_call_itself_without_end_by_any_name_of_this_machine(
    project: Project,
) -> None:
    token, url = project.stage.project.api_token, project.stage.world.server.url
    function_id = project.function(
        hog=f"fetch('{url}/capture/', {{'body': {{'api_key': '{token}', 'event': 'again', "
        "'distinct_id': 'u'}})",
        filters={"events": [{"id": "again", "type": "events"}]},
    )
    project.capture(event("again"))

    counts = wait_for(lambda: project.totals(function_id), lambda value: value.get("failed"))
    assert (counts["fetch"], counts["succeeded"], counts["failed"]) == (10, 10, 1)


def test_a_failing_transformation_names_its_event(project: Project) -> None:
    function_id = project.function(type="transformation", hog="throw Error('boom')")
    uuid = "0191aaaa-0000-7000-8000-000000000001"
    project.capture(event() | {"uuid": uuid})

    lines = wait_for(lambda: _lines(project, function_id))
    assert (lines[0]["level"], uuid in lines[0]["message"]) == ("ERROR", True)


def test_nobody_can_claim_that_transformations_ran(project: Project) -> None:
    claim = {"$transformations_succeeded": ["me"], "kept": 1}
    project.capture({"event": "plain", "distinct_id": "u", "properties": claim})

    rows = wait_for(lambda: project.select("select properties from events where event = 'plain'"))
    assert "$transformations" not in rows[0][0]
    assert "kept" in rows[0][0]


def test_a_dead_letter_keeps_its_mapping_wherever_it_is_put(project: Project) -> None:
    number = project.stage.project.id
    paths = {"one": f"/status/400/400/200/one-{number}", "two": f"/two-{number}"}
    first, second = (
        {
            "name": name,
            "inputs_schema": URL,
            "inputs": {"url": {"value": project.receiver.url + path}},
            "filters": {"events": [{"id": "bought", "type": "events"}]},
        }
        for name, path in paths.items()
    )
    function_id = project.function(hog="fetch(inputs.url)", mappings=[first, second])
    redrive = f"{project.base}/hog_functions/{function_id}/dead_letters/redrive"

    def arrived() -> list[int]:
        return [len(project.receiver.at(path)) for path in paths.values()]

    project.capture(event())
    wait_for(lambda: project.dead_letters(function_id))
    wait_for(arrived, lambda value: value == [1, 1])

    project.change(function_id, mappings=[second, first])
    assert project.client.post(redrive, json={"all": True}).json()["queued"] == 1
    wait_for(arrived, lambda value: value == [2, 1])
    wait_for(lambda: project.totals(function_id).get("dead_lettered") == 2)

    project.change(function_id, mappings=[second])
    assert project.client.post(redrive, json={"all": True}).json()["queued"] == 1
    wait_for(
        lambda: {letter["class"] for letter in project.dead_letters(function_id)} == {"inputs"}
    )
    assert "removed" in project.dead_letters(function_id)[0]["error"]

    project.change(function_id, mappings=[second, first | {"name": "another"}])
    assert project.client.post(redrive, json={"all": True}).json()["queued"] == 1
    wait_for(lambda: project.totals(function_id).get("dead_lettered") == 4)
    assert arrived() == [2, 1]

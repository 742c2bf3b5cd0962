"""Icons, backfills, logs and metrics: docs/spec/hog-functions.md#9-rows-6-13."""

import pytest


async def test_backfills_are_enabled_once_and_started(hoglet):
    filters = {"events": [{"id": "$pageview", "type": "events"}]}
    function = await hoglet.create(filters=filters)
    first = await hoglet.call("POST", f"/{function['id']}/enable_backfills/")
    again = await hoglet.call("POST", f"/{function['id']}/enable_backfills")
    export = first.json()["batch_export_id"]

    assert first.status_code == 200
    assert again.status_code == 400
    assert again.json()["attr"] is None
    assert again.json()["error"] == again.json()["detail"]
    assert (await hoglet.call("GET", f"/{function['id']}")).json()["batch_export_id"] == export
    window = {"start_at": "2026-01-01T00:00:00Z", "end_at": "2026-01-02T00:00:00Z"}
    started = await hoglet.client.post(
        f"/api/projects/1/batch_exports/{export}/backfills", json=window
    )
    assert started.status_code == 201
    assert set(started.json()) == {"id", "start_at", "end_at", "status"}
    assert (await hoglet.queue.depth("functions.backfill")).ready == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "transformation", "hog": "return event"},
        {"filters": {"source": "person-updates"}},
    ],
)
async def test_who_cannot_have_backfills(hoglet, fields):
    function = await hoglet.create(**fields)

    assert (await hoglet.call("POST", f"/{function['id']}/enable_backfills")).status_code == 400


async def test_icons_work_without_a_provider(hoglet):
    assert (await hoglet.call("GET", "/icons/?query=slack")).json() == []
    assert (await hoglet.call("GET", "/icon/?id=slack.com")).status_code == 404
    missing = await hoglet.call("GET", "/icon/")
    assert (missing.status_code, missing.json()["attr"]) == (400, None)


@pytest.mark.parametrize(
    ("path", "code", "attr"),
    [
        ("logs?limit=501", "max_value", "limit"),
        ("logs?limit=0", "min_value", "limit"),
        ("logs?after=soon", "invalid_input", "after"),
        ("metrics?interval=month", "invalid_choice", "interval"),
        ("metrics?breakdown_by=x", "invalid_choice", "breakdown_by"),
        ("metrics/totals?after=soon", "invalid_input", "after"),
    ],
)
async def test_what_a_parameter_refuses(hoglet, attr_of, path, code, attr):
    function = await hoglet.create()

    assert attr_of(await hoglet.call("GET", f"/{function['id']}/{path}")) == (400, code, attr)

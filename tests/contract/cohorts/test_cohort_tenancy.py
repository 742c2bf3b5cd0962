"""Cohorts of other projects are invisible in routes, queries and criteria."""

from typing import Any

from hoglet.cohorts import api
from support.cohorts import CohortsApi, cohort_row

LEAF = {"type": "person", "key": "email", "operator": "is_set"}


async def foreign(cohorts: CohortsApi, calculation_id: int) -> int:
    """A cohort of project 1, whose members are persons of the tested project."""
    async with cohorts.endpoints.world.database.write() as session:
        criteria = {"properties": {"type": "AND", "values": [LEAF | {"negation": False}]}}
        row = cohort_row(1, name="foreign", filters=criteria, calculation_id=calculation_id)
        session.add(row)
        await session.flush()
        return row.id


async def test_no_route_knows_it(cohorts: CohortsApi) -> None:
    other = await foreign(cohorts, 1)
    paths = {
        (method, route.path)
        for route in api.router.routes
        for method in getattr(route, "methods", ())
        if "{cohort_id}" in route.path and method != "HEAD"
    }
    assert len(paths) > 10
    for method, path in sorted(paths):
        answer = await cohorts.client.request(
            method,
            cohorts.base + path.format(cohort_id=other),
            json={"person_ids": [], "person_id": "x", "deleted": True},
        )
        assert answer.status_code == 404, (method, path, answer.text)
    assert (await cohorts.get("cohorts/")).json()["count"] == 0


async def test_no_query_reads_it(cohorts: CohortsApi) -> None:
    ann = await cohorts.add_person("ann", email="a@x.com")
    mine = await cohorts.static([ann])
    other = await foreign(cohorts, 77)
    rows = [[project, other, 77, ann, 0, 0] for project in (1, cohorts.endpoints.project_id)]
    columns = ["project_id", "cohort_id", "calculation_id", "person_id", "is_deleted", "revision"]
    await cohorts.endpoints.warehouse.insert("cohort_members", columns, rows)

    for expected in (str(other), "'foreign'"):
        response = await cohorts.query(f"select 1 from persons where id in cohort {expected}")
        assert (response.status_code, response.json()["code"]) == (400, "hogql_query_error")
    for table in ("cohort_people", "static_cohort_people"):
        response = await cohorts.query(f"select cohort_id from {table}")
        assert response.json()["results"] == [[mine["id"]]]
    leaf = {"type": "cohort", "key": "id", "value": other}
    body: dict[str, Any] = {
        "name": "x",
        "filters": {"properties": {"type": "AND", "values": [leaf]}},
    }
    assert (await cohorts.refused(body))[:2] == (400, "filters")


async def test_scopes(cohorts: CohortsApi) -> None:
    cohort = await cohorts.static([])
    world = cohorts.endpoints.world
    for scopes, path, status in [
        (["cohort:read"], "cohorts/", 200),
        (["person:read"], "cohorts/", 403),
        (["cohort:read"], f"cohorts/{cohort['id']}/persons", 403),
        (["cohort:read", "person:read"], f"cohorts/{cohort['id']}/persons", 200),
        (["cohort:read"], "persons/cohorts?person_id=x", 403),
        (["cohort:write"], f"cohorts/{cohort['id']}/activity", 403),
    ]:
        key = await world.add_key(scopes)
        answer = await cohorts.client.get(
            f"{cohorts.base}/{path}", headers={"Authorization": f"Bearer {key}"}
        )
        assert answer.status_code == status, (scopes, path, answer.text)

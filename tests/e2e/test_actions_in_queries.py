"""An action of the project in a saved insight."""

from support.server import ServerProject
from support.waiting import wait_for


def test_a_trend_over_an_action_counts_the_events_of_its_steps(server: ServerProject) -> None:
    client = server.client
    action = {"name": "Paid", "steps": [{"event": "paid"}, {"event": "renewed"}]}
    created = client.post("/api/projects/@current/actions/", json=action).json()
    names = ["paid", "renewed", "other"]
    batch = [{"event": name, "distinct_id": "ada"} for name in names]
    client.post("/batch/", json={"api_key": server.token, "batch": batch})
    query = {"kind": "TrendsQuery", "series": [{"kind": "ActionsNode", "id": created["id"]}]}
    saved = client.post("/api/projects/@current/endpoints", json={"name": "paid", "query": query})

    assert saved.status_code == 201, saved.text

    def counted() -> float:
        answer = client.post("/api/projects/@current/endpoints/paid/run", json={"refresh": "force"})
        assert answer.status_code == 200, answer.text
        return answer.json()["results"][0]["count"]

    wait_for(counted, lambda count: count == 2)

"""Host functions that the operator configures: email, GeoIP, additional bots."""

import json
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from support.geoip_database import LINKOPING, write_database
from support.mailbox import MailServer
from support.server import TOKEN, RunningServer
from support.waiting import wait_for

FUNCTIONS = "/api/projects/1/hog_functions/"
NETWORK = "89.160.20.0/24"
EMAIL = {
    "from": {"email": "shop@example.com", "name": "Shop"},
    "to": "{event.properties.to}",
    "subject": "Hello {event.distinct_id}",
    "text": "From {event.event}",
}


@pytest.fixture(scope="module")
def mail() -> Generator[MailServer]:
    with MailServer(refused=("nobody@example.com",)) as server:
        yield server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, mail: MailServer) -> Generator[RunningServer]:
    folder = tmp_path_factory.mktemp("data")
    places = write_database(folder / "places.mmdb", {NETWORK: LINKOPING})
    bots = folder / "bots.txt"
    bots.write_text("# ours\nAcme-Checker\n198.51.100.0/24\n")
    running = RunningServer(
        folder,
        smtp_host="127.0.0.1",
        smtp_port=str(mail.port),
        smtp_security="none",
        geoip_database=str(places),
        bot_list=str(bots),
    ).start()
    yield running
    running.stop()


def make(server: RunningServer, **fields: Any) -> str:
    response = server.client.post(FUNCTIONS, json={"enabled": True, **fields})
    assert response.status_code == 201, response.text
    return response.json()["id"]


def mailing(server: RunningServer, event: str, hog: str, **more: Any) -> str:
    return make(
        server,
        type="destination",
        hog=hog,
        inputs_schema=[{"key": "email", "type": "email", "required": True}],
        inputs={"email": {"value": EMAIL}},
        filters={"events": [{"id": event, "type": "events"}]},
        **more,
    )


def capture(server: RunningServer, event: str, **properties: Any) -> None:
    body = {"api_key": TOKEN, "event": event, "distinct_id": "ada", "properties": properties}
    assert server.client.post("/capture/", json=body).status_code == 200


def totals(server: RunningServer, function: str) -> dict[str, int]:
    path = f"{FUNCTIONS}{function}/metrics/totals/"
    kinds = server.client.get(path).json()["totals"]
    return kinds | server.client.get(path + "?breakdown_by=name").json()["totals"]


def test_mail_is_sent_again_until_it_is_taken(server: RunningServer, mail: MailServer) -> None:
    mail._answers.append("451 4.3.0 busy")
    before = mail.attempts
    retry = {"initial_delay_seconds": 0.1}
    function = mailing(server, "welcome", "print(sendEmail(inputs.email))", retry=retry)
    capture(server, "welcome", to="Ada <ada@example.com>")
    wait_for(lambda: totals(server, function), lambda t: t.get("succeeded"))

    (got,) = [each for each in mail.received if each.message["Subject"] == "Hello ada"]
    assert (got.sender, got.recipients) == ("shop@example.com", ["ada@example.com"])
    assert got.message.get_content().strip() == "From welcome"
    assert got.message["X-Hoglet-Attempt"] == "2"
    assert mail.attempts == before + 2
    delivery = got.message["X-Hoglet-Delivery"]
    assert got.message["Message-ID"].startswith(f"<{delivery}.0@")
    lines = server.client.get(f"{FUNCTIONS}{function}/logs/?instance_id={delivery}").json()
    text = str(lines["results"])
    assert "Attempt 1 of sendEmail failed: SmtpRefused: 451" in text
    assert "Email sent to ada@example.com" in text
    assert '"success":true' in text
    counted = totals(server, function)
    assert {k: counted.get(k) for k in ("email", "email_sent", "retried", "fetch")} == {
        "email": 1,
        "email_sent": 1,
        "retried": 1,
        "fetch": None,
    }


def test_refused_mail_fails_the_run_though_the_program_goes_on(server: RunningServer) -> None:
    function = mailing(server, "refused", "print(sendEmail(inputs.email).success)")
    capture(server, "refused", to="nobody@example.com")
    letters = wait_for(
        lambda: server.client.get(f"{FUNCTIONS}{function}/dead_letters/").json()["results"], len
    )

    assert [(letter["class"], letter["attempts"]) for letter in letters] == [("fetch", 1)]
    assert "550" in letters[0]["error"]
    wait_for(lambda: totals(server, function), lambda t: t.get("email_failed") == 1)


def test_no_address_is_no_mail(server: RunningServer) -> None:
    function = mailing(server, "empty", "sendEmail(inputs.email)")
    capture(server, "empty")
    letters = wait_for(
        lambda: server.client.get(f"{FUNCTIONS}{function}/dead_letters/").json()["results"], len
    )

    assert letters[0]["class"] == "hog"
    assert "to has no valid address" in letters[0]["error"] or "for to" in letters[0]["error"]


def test_test_runs_send_only_without_mocks(server: RunningServer, mail: MailServer) -> None:
    function = mailing(server, "try", "return sendEmail(inputs.email)")
    run = {
        "globals": {"event": {"event": "try", "distinct_id": "try", "properties": {"to": "t@x.y"}}}
    }
    path = f"{FUNCTIONS}{function}/invocations/"
    before = len(mail.received)
    mocked = server.client.post(path, json=run).json()
    assert mocked["status"] == "success"
    assert "sendEmail" in str(mocked["logs"])
    assert len(mail.received) == before
    real = server.client.post(path, json={**run, "mock_async_functions": False}).json()
    assert real["status"] == "success", real
    assert mail.received[-1].message["Subject"] == "Hello try"


def test_stored_events_get_their_places(server: RunningServer) -> None:
    """The template runs in the pipeline's worker process, with the operator's database."""
    transformation = make(server, type="transformation", template_id="template-geoip", name="Geo")
    time.sleep(1.2)
    capture(server, "placed", **{"$ip": "89.160.20.129", "$transformations_failed": ["forged"]})
    capture(server, "placed", **{"$ip": "10.0.0.1"})
    query = "SELECT properties FROM events WHERE event = 'placed'"
    body = {"name": "placed", "query": {"kind": "HogQLQuery", "query": query}}
    server.client.post("/api/projects/1/endpoints/", json=body)
    rows = wait_for(
        lambda: server.client.post(
            "/api/projects/1/endpoints/placed/run/", json={"refresh": "force"}
        ).json()["results"],
        lambda rows: len(rows) == 2,
    )
    known, unknown = sorted(
        (json.loads(row[0]) for row in rows), key=lambda value: value["$ip"], reverse=True
    )

    assert known["$geoip_city_name"] == "Linköping"
    assert known["$geoip_time_zone"] == "Europe/Stockholm"
    assert known["$set"]["$geoip_country_code"] == "SE"
    assert known["$set_once"]["$initial_geoip_country_code"] == "SE"
    assert known["$transformations_succeeded"] == [f"Geo ({transformation})"]
    assert "$transformations_failed" not in known
    assert not any(name.startswith("$geoip") for name in unknown)


def test_programs_ask_for_places_and_the_operators_bots(server: RunningServer) -> None:
    code = """
        print(geoipLookup('89.160.20.5').location.timeZone, geoipLookup('::1'), geoipLookup(5),
              isKnownBotUserAgent('acme-checker/2'), isKnownBotUserAgent('Mozilla/5.0 Firefox'),
              isKnownBotIp('198.51.100.7'), isKnownBotIp('66.249.66.1'), isKnownBotIp('1.1.1.1'))
    """
    run = {"configuration": {"hog": code}, "globals": {"event": {"event": "t"}}}
    done = server.client.post(f"{FUNCTIONS}new/invocations/", json=run).json()

    assert done["logs"][0]["message"] == (
        "Europe/Stockholm, null, null, true, false, true, true, false"
    )


def test_without_a_server_there_is_no_sendemail_and_a_bad_database_stops_the_start(
    shared_server: RunningServer, tmp_path: Path
) -> None:
    run = {"configuration": {"hog": "sendEmail({})"}, "globals": {"event": {"event": "t"}}}
    done = shared_server.client.post(f"{FUNCTIONS}new/invocations/", json=run).json()
    assert done["status"] == "error"

    (tmp_path / "no.mmdb").write_text("nothing")
    broken = RunningServer(tmp_path / "broken", geoip_database=str(tmp_path / "no.mmdb"))
    with pytest.raises(AssertionError, match="HOGLET_GEOIP_DATABASE"):
        broken.start()

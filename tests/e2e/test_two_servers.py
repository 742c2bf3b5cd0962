"""Two full servers on one PostgreSQL and one ClickHouse server (the double)."""

import asyncio
import contextlib
import itertools
import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.fernet import Fernet
from sqlalchemy import func, select

from hoglet.access.bootstrap import ensure_first_project
from hoglet.access.tables import MembershipRow, OrganizationRow, PersonalKeyRow, ProjectRow, UserRow
from hoglet.kit.clock import SystemClock
from hoglet.migrations import migrate
from hoglet.store.database import Database
from support.accepted import Accepted
from support.receiver import Receiver
from support.server import TOKEN, RunningServer
from support.warehouses import new_clickhouse_database

FIRST_ROWS = (OrganizationRow, ProjectRow, UserRow, MembershipRow, PersonalKeyRow)
MIN_BATCHES = 10  # between the steps of a rolling restart
PEOPLE, MERGES = 60, 45  # so that some persons are merged often and some not at all
SENDERS, TURNS = 6, 15


async def _first_start(url: str) -> None:
    await asyncio.to_thread(migrate, url)
    database = Database(url)
    try:
        await ensure_first_project(database, SystemClock())
    finally:
        await database.close()


async def test_first_starts_at_once_create_one_project(postgres_url: str) -> None:
    await asyncio.gather(*(_first_start(postgres_url) for _ in range(6)))

    database = Database(postgres_url)
    async with database.read() as session:
        counts = [await session.scalar(select(func.count()).select_from(row)) for row in FIRST_ROWS]
    await database.close()
    assert counts == [1] * len(FIRST_ROWS)


@pytest.fixture
def pair(
    tmp_path: Path, postgres_url: str, clickhouse_server: str
) -> Generator[list[RunningServer]]:
    """Two servers that were started at the same time on an empty database and warehouse."""
    with new_clickhouse_database(clickhouse_server) as warehouse:
        shared = {
            "database_url": postgres_url,
            "warehouse_url": warehouse,
            "secret_keys": Fernet.generate_key().decode(),
            "drain_seconds": "1",
        }
        servers = [RunningServer(tmp_path / name, **shared) for name in ("first", "second")]
        starts = [threading.Thread(target=server.start) for server in servers]
        for start in starts:
            start.start()
        for start in starts:
            start.join()
        try:
            for server in servers:
                assert server.client.get("/_readyz").status_code == 200, server.log()
            yield servers
        finally:
            for server in servers:
                server.stop()


class _Load:
    """Sends batches to the servers in turn until stopped, as a load balancer would."""

    def __init__(self, servers: list[RunningServer], receiver: Receiver) -> None:
        self.accepted = Accepted(servers[0], receiver)
        self._turns = itertools.cycle(servers)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.batches: Counter[str] = Counter()

    def start(self) -> None:
        self._thread.start()

    def wait(self, server: RunningServer) -> None:
        """Wait until some further batches were accepted by a server."""
        target = self.batches[server.url] + MIN_BATCHES
        deadline = time.monotonic() + 120
        while self.batches[server.url] < target:
            assert time.monotonic() < deadline, self.accepted.statuses
            time.sleep(0.05)

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        for server in self._turns:
            if self._stopping.is_set():
                return
            self.accepted.server = server
            if self.accepted.send(10) == 200:
                self.batches[server.url] += 1
            time.sleep(0.05)  # more than that fails at the receiver, which is one process


@pytest.mark.slow
def test_a_rolling_restart_under_load_loses_and_repeats_nothing(
    pair: list[RunningServer],
) -> None:
    receiver = Receiver()
    load = _Load(pair, receiver)
    load.start()
    try:
        for server, other in (pair, pair[::-1]):
            load.wait(server)
            assert server.stop() == 0
            load.wait(other)
            server.start()
        load.wait(pair[1])
        pair[0].kill()  # and one that is not announced
        load.wait(pair[1])
        pair[0].start()
        load.wait(pair[0])
    finally:
        load.stop()
    try:
        for server in pair:  # both give the same results
            load.accepted.server = server
            load.accepted.assert_all_there()
    finally:
        receiver.close()


class _PersonTraffic:
    """Sends merges and properties of distinct ids, each in order, to servers picked at random.

    Each distinct id writes a property of its own, so what a merged person should hold is known
    whatever the order in which the servers merge.
    """

    def __init__(self, servers: list[RunningServer], *, seed: int) -> None:
        self._servers = servers
        self._random = random.Random(seed)  # noqa: S311
        self.ids = [f"p{number}" for number in range(PEOPLE)]
        self.merges = [tuple(self._random.sample(self.ids, 2)) for _ in range(MERGES)]
        self.last = dict.fromkeys(self.ids, -1)
        self.sent = Counter[str]()

    def send(self) -> None:
        """Send all of it, with a thread for each part of the distinct ids."""
        parts = [self.ids[start::SENDERS] for start in range(SENDERS)]
        with ThreadPoolExecutor(SENDERS) as pool:
            for done in [pool.submit(self._send_part, part) for part in parts]:
                done.result()

    def _send_part(self, ids: list[str]) -> None:
        mine = [merge for merge in self.merges if merge[0] in ids]
        for turn in range(TURNS):
            events = [_set_event(each, turn) for each in ids]
            events += [_merge_event(*merge) for merge in mine[turn::TURNS]]
            self._post(events)
            for each in ids:
                self.last[each] = turn

    def _post(self, events: list[dict[str, Any]]) -> None:
        body = {"api_key": TOKEN, "batch": events}
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            server = self._random.choice(self._servers)
            with contextlib.suppress(httpx.TransportError):
                if httpx.post(server.url + "/batch/", json=body, timeout=30).status_code == 200:
                    self.sent.update(event["distinct_id"] for event in events)
                    return
            time.sleep(0.1)
        raise AssertionError("no server accepts events")

    def components(self) -> set[frozenset[str]]:
        """The distinct ids of each person that remains after all merges."""
        group = {each: {each} for each in self.ids}
        for into, other in self.merges:
            joined = group[into] | group[other]
            group.update(dict.fromkeys(joined, joined))
        return {frozenset(each) for each in group.values()}


def _set_event(distinct_id: str, turn: int) -> dict[str, Any]:
    properties = {"$set": {distinct_id: turn}}
    return _event("e", distinct_id, properties)


def _merge_event(into: str, other: str) -> dict[str, Any]:
    return _event("$merge_dangerously", into, {"alias": other})


def _event(event: str, distinct_id: str, properties: dict[str, Any]) -> dict[str, Any]:
    identity = str(uuid.uuid4())
    return {"event": event, "distinct_id": distinct_id, "uuid": identity, "properties": properties}


def _ask(server: RunningServer, query: str) -> list[list[Any]]:
    body = {"query": {"kind": "HogQLQuery", "query": query}, "refresh": "force_blocking"}
    answer = server.client.post("/api/projects/1/query/", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def _wait_for(read: Callable[[], Any], expected: Any) -> None:
    """Events are in the warehouse a moment before their persons are committed."""
    deadline = time.monotonic() + 120
    while (value := read()) != expected and time.monotonic() < deadline:
        time.sleep(0.5)
    assert value == expected


def _persons(server: RunningServer) -> dict[frozenset[str], dict[str, Any]]:
    listed = server.client.get("/api/projects/1/persons/?limit=1000").json()["results"]
    persons: dict[frozenset[str], dict[str, Any]] = {}
    for each in listed:  # lists show ten distinct ids of a person
        person = server.client.get(f"/api/projects/1/persons/{each['uuid']}/").json()
        if person.get("distinct_ids"):  # it may have been merged meanwhile
            persons[frozenset(person["distinct_ids"])] = person["properties"]
    return persons


def _events_by_person(server: RunningServer) -> dict[frozenset[str], int]:
    query = "SELECT groupUniqArray(distinct_id), count() FROM events GROUP BY person_id LIMIT 1000"
    return {frozenset(ids): count for ids, count in _ask(server, query)}


@pytest.mark.slow
def test_merges_on_both_servers_end_in_the_same_persons(pair: list[RunningServer]) -> None:
    people = _PersonTraffic(pair, seed=1)
    killed = threading.Timer(1.0, pair[0].kill)
    killed.start()
    people.send()
    killed.join()
    pair[0].start()

    expected = {ids: {each: people.last[each] for each in ids} for ids in people.components()}
    for server in pair:
        _assert_merged(server, expected, people.sent)


def _assert_merged(
    server: RunningServer,
    expected: dict[frozenset[str], dict[str, Any]],
    sent: Counter[str],
) -> None:
    _wait_for(lambda: _ask(server, "SELECT count() FROM events"), [[sent.total()]])
    _wait_for(lambda: _persons(server), expected)
    counts = {ids: sum(sent[each] for each in ids) for ids in expected}
    _wait_for(lambda: _events_by_person(server), counts)

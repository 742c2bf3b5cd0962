"""``/_readyz`` answers in a known time, also while a check cannot be cancelled."""

import asyncio
import contextlib
from collections import Counter

import httpx
import pytest

from hoglet.web import health
from hoglet.web.app import ReadinessChecks, create_application


class Stuck:
    """Parts that do not end when they are cancelled, as a driver whose server is frozen."""

    def __init__(self) -> None:
        self.asked = Counter[str]()
        self.released = asyncio.Event()

    async def check(self) -> None:
        await self._wait("check")

    async def warnings(self) -> list[str]:
        await self._wait("warnings")
        return ["a warning"]

    async def _wait(self, name: str) -> None:
        self.asked[name] += 1
        while not self.released.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await self.released.wait()


async def _ready(client: httpx.AsyncClient, *, times: int) -> list[httpx.Response]:
    return [await client.get("/_readyz") for _ in range(times)]


async def test_a_part_that_does_not_answer_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(health, "CHECK_SECONDS", 0.1)
    stuck = Stuck()
    parts = ReadinessChecks({"storage": stuck.check}, stuck.warnings)
    transport = httpx.ASGITransport(create_application(readiness=parts))
    async with httpx.AsyncClient(transport=transport, base_url="http://hoglet") as client:
        asking = asyncio.ensure_future(_ready(client, times=3))
        done, _ = await asyncio.wait({asking}, timeout=30)
        asked = stuck.asked.copy()
        stuck.released.set()
        assert done
        answers = asking.result()
        assert [answer.status_code for answer in answers] == [503] * 3
        assert answers[2].json()["checks"] == {"storage": "TimeoutError"}
        assert answers[2].json()["warnings"] == ["Warnings cannot be read: TimeoutError"]
        # Each further question would hold a connection of its own.
        assert asked == {"check": 1, "warnings": 1}
        await asyncio.sleep(0.1)
        answer = await client.get("/_readyz")
    assert (answer.status_code, answer.json()["warnings"]) == (200, ["a warning"])

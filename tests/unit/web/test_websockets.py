"""Websockets are closed before the server stops."""

import asyncio
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from hoglet.web.websockets import GOING_AWAY, OpenWebsockets

WEBSOCKET: Scope = {"type": "websocket", "path": "/_nicegui_ws/socket.io"}
DISCONNECT: Message = {"type": "websocket.disconnect", "code": GOING_AWAY}


class Application:
    """Receives until it is disconnected; ``received_all`` is set when ``expected`` arrived."""

    def __init__(self, expected: int = 0) -> None:
        self.received: list[Message] = []
        self.received_all = asyncio.Event()
        self._expected = expected

    async def __call__(self, _scope: Scope, receive: Receive, _send: Send) -> None:
        while not self.received or self.received[-1]["type"] != "websocket.disconnect":
            self.received.append(await receive())
            if len(self.received) == self._expected:
                self.received_all.set()


class Connection:
    """The server's side of a connection: messages to receive, and what was sent."""

    def __init__(self) -> None:
        self.messages: asyncio.Queue[Message] = asyncio.Queue()
        self.sent: list[Any] = []

    async def receive(self) -> Message:
        return await self.messages.get()

    async def send(self, message: Message) -> None:
        self.sent.append(message)


async def test_messages_arrive_in_order_until_the_stop_disconnects() -> None:
    websockets, app, connection = OpenWebsockets(), Application(expected=3), Connection()
    texts = [{"type": "websocket.receive", "text": str(number)} for number in range(3)]
    for message in texts:
        connection.messages.put_nowait(message)
    task = asyncio.create_task(
        websockets.around(app)(WEBSOCKET, connection.receive, connection.send)
    )
    await app.received_all.wait()

    await websockets.close()

    assert task.done()
    assert app.received == [*texts, DISCONNECT]


async def test_new_ones_are_refused_while_stopping() -> None:
    websockets, app, connection = OpenWebsockets(), Application(), Connection()
    await websockets.close()

    await websockets.around(app)(WEBSOCKET, connection.receive, connection.send)

    assert app.received == []
    assert connection.sent == [{"type": "websocket.close", "code": GOING_AWAY}]


async def test_requests_are_served_while_stopping() -> None:
    websockets, seen = OpenWebsockets(), list[str]()

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        seen.append(scope["type"])

    await websockets.close()
    await websockets.around(app)({"type": "http"}, Connection().receive, Connection().send)

    assert seen == ["http"]


async def test_one_that_does_not_end_does_not_keep_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("hoglet.web.websockets.PATIENCE_SECONDS", 0.01)
    websockets = OpenWebsockets()

    async def app(_scope: Scope, _receive: Receive, _send: Send) -> None:
        await asyncio.Event().wait()

    task = asyncio.create_task(
        websockets.around(app)(WEBSOCKET, Connection().receive, Connection().send)
    )
    await asyncio.sleep(0)
    await websockets.close()

    assert not task.done()
    task.cancel()

"""An application with the routes of functions, on a real database in a temporary folder."""

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx
import pytest
from cryptography.fernet import Fernet

from hoglet.access.auth import AccessService
from hoglet.access.bootstrap import ensure_first_project
from hoglet.functions import api
from hoglet.functions.actions import api as action_api
from hoglet.functions.actions.service import ActionService
from hoglet.functions.backfills import api as backfill_api
from hoglet.functions.backfills.service import Backfills
from hoglet.functions.compile.compiler import read_answer
from hoglet.functions.compile.messages import CompiledFunction, CompileInput
from hoglet.functions.dead_letters import api as dead_letter_api
from hoglet.functions.dead_letters.service import DeadLetters
from hoglet.functions.drafts import api as draft_api
from hoglet.functions.explain_match import api as explain_match_api
from hoglet.functions.explain_match.service import MatchExplainer
from hoglet.functions.history import api as history_api
from hoglet.functions.integrations import api as integration_api
from hoglet.functions.integrations.credentials import Credentials
from hoglet.functions.integrations.service import IntegrationService
from hoglet.functions.jobs import RecompileLater
from hoglet.functions.logs import api as logs_api
from hoglet.functions.runtime.host_calls import HostCalls
from hoglet.functions.save.planner import CompileEnvironment
from hoglet.functions.secrets.box import SecretBox
from hoglet.functions.service import FunctionService
from hoglet.functions.templates import api as template_api
from hoglet.functions.templates.registry import Templates
from hoglet.functions.test_runs import api as test_run_api
from hoglet.functions.test_runs.service import TestRunService
from hoglet.functions.watcher.service import Watcher
from hoglet.functions.webhooks import api as public_api
from hoglet.functions.webhooks.service import Webhooks
from hoglet.functions.worker_operations import compile_function
from hoglet.kit.clock import FixedClock
from hoglet.outbound.client import Outbound
from hoglet.pipeline.delivery import ordering as lines
from hoglet.pipeline.delivery.completion import CompletionWriter
from hoglet.pipeline.delivery.webhook_completion import WebhookCompletion
from hoglet.pipeline.telemetry_outbox import TelemetryOutbox
from hoglet.queue.sql import SqlQueue
from hoglet.store.database import Database
from hoglet.warehouse.telemetry import Telemetry
from hoglet.web.app import RequestPolicy, create_application
from support.documented import ASYNC_RESPONSE_HOOKS
from support.runs import Runs, ScriptedReceiver, open_runs
from support.sandboxes import shared_sandbox

KEY = "phx_test"


class TickingClock(FixedClock):
    """Moves on by a millisecond at each look, so that updates have an order."""

    def now(self) -> datetime:
        self.advance(seconds=0.001)
        return self.at


class InlineCompiler:
    """The operation of the sandbox, called here."""

    async def compile(self, draft: CompileInput) -> CompiledFunction:
        import msgspec

        return read_answer(compile_function(msgspec.to_builtins(draft)))


class NoWarehouse:
    """Stands in where a test never reads the warehouse; any use fails the test."""


class StoredHere:
    """Stands in for stored events: there are none. tests/e2e has those of a server."""

    async def find(self, _project_id: int, _uuid: UUID) -> None:
        return None


@dataclass
class Hoglet:
    """A running application and a client that holds a key."""

    client: httpx.AsyncClient
    database: Database
    clock: FixedClock
    service: FunctionService
    app: Any
    queue: SqlQueue

    async def call(self, method: str, path: str = "", **more: Any) -> httpx.Response:
        return await self.client.request(method, f"/api/projects/1/hog_functions{path}", **more)

    async def create(self, **fields: Any) -> dict[str, Any]:
        body = {"type": "destination", "name": "f", "hog": "return 1", **fields}
        response = await self.call("POST", json=body)
        assert response.status_code == 201, response.text
        return response.json()

    async def patch(self, id_: str, **fields: Any) -> httpx.Response:
        return await self.call("PATCH", f"/{id_}", json=fields)


@pytest.fixture
async def hoglet(sqlite_database: Database) -> AsyncIterator[Hoglet]:
    database = sqlite_database
    clock = TickingClock(datetime(2026, 1, 5, 12, tzinfo=UTC))
    await ensure_first_project(database, clock, personal_api_key=KEY)
    app = create_application(
        routers=[template_api.public_router, public_api.router],
        project_routers=[
            logs_api.router,
            backfill_api.router,
            test_run_api.router,
            draft_api.router,
            explain_match_api.router,
            dead_letter_api.router,
            history_api.router,
            action_api.router,
            integration_api.router,
            template_api.router,
            api.router,
        ],
        policy=RequestPolicy(log_requests=False),
    )
    access = AccessService(database, clock)
    app.state.access = access
    service = FunctionService(
        CompileEnvironment(InlineCompiler(), Templates()),
        database=database,
        box=SecretBox([Fernet.generate_key()]),
        clock=clock,
        activity=access.activity,
        watcher=Watcher(clock, access.activity),
    )
    app.state.functions = service
    queue = SqlQueue(database, clock)
    app.state.actions = ActionService(database, clock, access.activity, RecompileLater(queue))
    app.state.backfills = Backfills(service, queue)
    app.state.dead_letters = DeadLetters(service, queue, enqueue=lines.enqueue)
    sandbox, outbound = shared_sandbox("functions"), Outbound()
    watcher = service.watcher
    telemetry = Telemetry(NoWarehouse())
    app.state.telemetry = telemetry
    writer = CompletionWriter(
        queue=queue,
        outbox=TelemetryOutbox(database, telemetry),
        dead_letters=app.state.dead_letters,
        watcher=watcher,
        clock=clock,
    )
    record = WebhookCompletion(database=database, queue=queue, writer=writer, clock=clock)
    app.state.webhooks = Webhooks(service, sandbox, record, access.project, "http://hoglet")
    calls = HostCalls(Credentials(outbound, database, service.box), None)
    app.state.test_runs = TestRunService(service, sandbox, calls, "http://hoglet")
    app.state.match_explainer = MatchExplainer(service, sandbox, StoredHere().find, "http://hoglet")
    app.state.integrations = IntegrationService(
        database, service.box, clock, access.activity, service.templates.icon_url
    )
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    headers = {"Authorization": f"Bearer {KEY}"}
    async with httpx.AsyncClient(
        transport=transport,
        base_url="http://hoglet",
        headers=headers,
        event_hooks=ASYNC_RESPONSE_HOOKS,
    ) as client:
        yield Hoglet(client, database, clock, service, app, queue)
    await outbound.close()


@pytest.fixture
def attr_of() -> Callable[[httpx.Response], tuple[int, str, str]]:
    """Status, code and attr of a refusal, the body being of the one error shape."""

    def read(response: httpx.Response) -> tuple[int, str, str]:
        body = response.json()
        assert {"type", "code", "detail", "attr"} <= set(body)
        return response.status_code, body["code"], body["attr"]

    return read


@pytest.fixture
def receiver() -> Iterator[ScriptedReceiver]:
    opened = ScriptedReceiver()
    yield opened
    opened.close()


@pytest.fixture
async def runs(hoglet: Hoglet) -> AsyncIterator[Runs]:
    async with open_runs(hoglet) as opened:
        yield opened

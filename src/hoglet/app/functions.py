"""Builds the functions room."""

from dataclasses import dataclass

from hoglet.app.data_folder import secret_keys
from hoglet.app.rooms import Rooms
from hoglet.functions.action_service import ActionService
from hoglet.functions.backfills import Backfills
from hoglet.functions.compiler import SandboxCompiler
from hoglet.functions.dead_letters import DeadLetters
from hoglet.functions.integrations.credentials import Credentials
from hoglet.functions.integrations.service import IntegrationService
from hoglet.functions.jobs import RecompileLater
from hoglet.functions.live_tail import LiveTail
from hoglet.functions.secrets import SecretBox
from hoglet.functions.service import FunctionService, PropertyTypes
from hoglet.functions.templates.registry import Templates
from hoglet.functions.trials import Trials
from hoglet.functions.watcher import Watcher
from hoglet.functions.webhooks import Webhooks
from hoglet.pipeline.internal_events import InternalEvents
from hoglet.pipeline.outbox import TelemetryOutbox
from hoglet.pipeline.webhook_runs import WebhookRuns
from hoglet.settings import Settings
from hoglet.warehouse.telemetry import Telemetry


@dataclass
class Functions:
    """The services of functions; each hangs on ``app.state`` under its own name."""

    service: FunctionService
    actions: ActionService
    backfills: Backfills
    credentials: Credentials
    integrations: IntegrationService
    letters: DeadLetters
    live_tail: LiveTail
    watcher: Watcher
    telemetry: Telemetry
    trials: Trials
    webhooks: Webhooks


def open_box(settings: Settings) -> SecretBox:
    """The box with all configured keys."""
    keys = secret_keys(settings.data_dir, settings.secret_keys)
    return SecretBox([key.encode() for key in keys])


def build_functions(rooms: Rooms, property_types: PropertyTypes) -> Functions:
    """The services on the shared database, queue and sandbox."""
    settings, access = rooms.settings, rooms.access
    box = open_box(settings)
    templates = Templates()
    watcher = Watcher(rooms.clock, access.activity)
    internal = InternalEvents(rooms.queue, rooms.clock)
    access.activity.listeners.append(internal.on_activity)
    watcher.listeners.append(internal.on_state_change)
    service = FunctionService(
        database=rooms.database,
        compiler=SandboxCompiler(rooms.compile_sandbox),
        box=box,
        clock=rooms.clock,
        templates=templates,
        activity=access.activity,
        watcher=watcher,
        property_types=property_types,
    )
    credentials = Credentials(rooms.outbound, rooms.database, box)
    letters, telemetry = DeadLetters(service, rooms.queue), Telemetry(rooms.warehouse)
    site_url = settings.resolved_site_url()
    record = WebhookRuns(
        database=rooms.database,
        queue=rooms.queue,
        outbox=TelemetryOutbox(rooms.database, telemetry),
        letters=letters,
        watcher=watcher,
        clock=rooms.clock,
    )
    return Functions(
        service=service,
        actions=ActionService(
            rooms.database, rooms.clock, access.activity, RecompileLater(rooms.queue)
        ),
        backfills=Backfills(service, rooms.queue),
        credentials=credentials,
        integrations=IntegrationService(
            rooms.database, box, rooms.clock, access.activity, templates.icon_url
        ),
        letters=letters,
        live_tail=LiveTail(telemetry, rooms.clock),
        watcher=watcher,
        telemetry=telemetry,
        trials=Trials(service, rooms.run_sandbox, credentials, site_url),
        webhooks=Webhooks(service, rooms.run_sandbox, record, access.project, site_url),
    )

"""Builds the function services."""

from dataclasses import dataclass
from urllib.parse import urlsplit

import msgspec

from hoglet.app.container import Services
from hoglet.app.secret_keys import read_secret_keys
from hoglet.functions.actions.service import ActionService
from hoglet.functions.backfills.service import Backfills
from hoglet.functions.compile.compiler import SandboxCompiler
from hoglet.functions.dead_letters.service import DeadLetters, DeadLetterSettings
from hoglet.functions.integrations.credentials import Credentials
from hoglet.functions.integrations.service import IntegrationService
from hoglet.functions.jobs import RecompileLater
from hoglet.functions.logs.live_tail import LiveTail
from hoglet.functions.runtime.geoip import check_database
from hoglet.functions.runtime.host_calls import HostCalls
from hoglet.functions.runtime.host_config import HostConfig
from hoglet.functions.save.planner import CohortCriteria, CompileEnvironment, PropertyTypes
from hoglet.functions.secrets.box import SecretBox
from hoglet.functions.service import FunctionService
from hoglet.functions.templates.registry import Templates
from hoglet.functions.test_runs.service import TestRunService
from hoglet.functions.watcher.rules import WatcherSettings
from hoglet.functions.watcher.service import Watcher
from hoglet.functions.webhooks.service import Webhooks
from hoglet.outbound.mail import Mailer
from hoglet.pipeline.delivery import ordering as lines
from hoglet.pipeline.delivery.completion_writer import CompletionWriter
from hoglet.pipeline.delivery.webhook_completion import WebhookCompletion
from hoglet.pipeline.internal_events import InternalEvents
from hoglet.pipeline.telemetry_outbox import TelemetryOutbox
from hoglet.settings import BadSetting, Settings
from hoglet.warehouse.telemetry import Telemetry


@dataclass
class FunctionServices:
    """Services of functions; each is stored in ``app.state`` under its own name."""

    service: FunctionService
    actions: ActionService
    backfills: Backfills
    calls: HostCalls
    integrations: IntegrationService
    letters: DeadLetters
    live_tail: LiveTail
    watcher: Watcher
    telemetry: Telemetry
    trials: TestRunService
    webhooks: Webhooks
    run_endings: CompletionWriter


def open_box(settings: Settings) -> SecretBox:
    """The secret box with all configured keys."""
    return SecretBox([key.encode() for key in read_secret_keys(settings)])


def _host_config(settings: Settings) -> HostConfig:
    paths = (settings.geoip_database, settings.bot_list)
    database, bots = (None if path is None else str(path.absolute()) for path in paths)
    problem = None if database is None else check_database(database)
    if problem:
        raise BadSetting(f"HOGLET_GEOIP_DATABASE is not a MaxMind database: {problem}")
    has_email = settings.smtp_host is not None
    return HostConfig(has_email=has_email, geoip_database=database, bot_list=bots)


def _mailer(rooms: Services) -> Mailer | None:
    settings = rooms.settings
    if settings.smtp_host is None:
        return None
    from hoglet.outbound.smtp import SmtpMailer, SmtpServer

    server = SmtpServer(
        host=settings.smtp_host,
        port=settings.smtp_port,
        security=settings.smtp_security,
        username=settings.smtp_username,
        password=settings.smtp_password,
        ca_file=settings.smtp_ca_file,
    )
    return SmtpMailer(server, rooms.clock)


def _mail_domain(settings: Settings) -> str:
    return urlsplit(settings.resolved_site_url()).hostname or "hoglet"


def build_functions(
    rooms: Services, property_types: PropertyTypes, cohorts: CohortCriteria
) -> FunctionServices:
    """The services on the shared database, queue and sandbox."""
    settings, access = rooms.settings, rooms.access
    box = open_box(settings)
    templates = Templates()
    numbers = msgspec.convert(settings.watcher, WatcherSettings)
    watcher = Watcher(rooms.clock, access.activity, numbers)
    internal = InternalEvents(rooms.queue, rooms.clock)
    access.activity.listeners.append(internal.on_activity)
    watcher.listeners.append(internal.on_state_change)
    environment = CompileEnvironment(
        compiler=SandboxCompiler(rooms.sandboxes.compile),
        templates=templates,
        property_types=property_types,
        cohorts=cohorts,
        host_config=_host_config(settings),
    )
    service = FunctionService(
        environment,
        database=rooms.database,
        box=box,
        clock=rooms.clock,
        activity=access.activity,
        watcher=watcher,
    )
    calls = HostCalls(
        Credentials(rooms.outbound, rooms.database, box), _mailer(rooms), _mail_domain(settings)
    )
    keep = DeadLetterSettings(
        keep_days=settings.dead_letter_days, keep_per_function=settings.dead_letters_per_function
    )
    letters = DeadLetters(service, rooms.queue, keep, enqueue=lines.enqueue)
    telemetry = Telemetry(rooms.warehouse)
    site_url = settings.resolved_site_url()
    run_endings = CompletionWriter(
        queue=rooms.queue,
        outbox=TelemetryOutbox(rooms.database, telemetry),
        letters=letters,
        watcher=watcher,
        clock=rooms.clock,
    )
    record = WebhookCompletion(
        database=rooms.database, queue=rooms.queue, endings=run_endings, clock=rooms.clock
    )
    return FunctionServices(
        service=service,
        actions=ActionService(
            rooms.database,
            rooms.clock,
            access.activity,
            RecompileLater(rooms.queue),
            changed=access.forget,
        ),
        backfills=Backfills(service, rooms.queue),
        calls=calls,
        integrations=IntegrationService(
            rooms.database, box, rooms.clock, access.activity, templates.icon_url
        ),
        letters=letters,
        live_tail=LiveTail(telemetry, rooms.clock),
        watcher=watcher,
        telemetry=telemetry,
        trials=TestRunService(service, rooms.sandboxes.run, calls, site_url),
        webhooks=Webhooks(service, rooms.sandboxes.run, record, access.project, site_url),
        run_endings=run_endings,
    )

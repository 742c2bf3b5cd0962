"""Builds the function services."""

import ssl
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from hoglet.app.services.container import Services
from hoglet.app.startup.secret_keys import read_secret_keys
from hoglet.events.repository import EventsRepository
from hoglet.functions.actions.service import ActionService
from hoglet.functions.backfills.service import Backfills
from hoglet.functions.compile.compiler import SandboxCompiler
from hoglet.functions.dead_letters.service import DeadLetters, DeadLetterSettings
from hoglet.functions.executable.model import HostConfig
from hoglet.functions.explain_match.match_counts import MatchCounts
from hoglet.functions.explain_match.service import MatchExplainer
from hoglet.functions.integrations.credentials import Credentials
from hoglet.functions.integrations.service import IntegrationService
from hoglet.functions.jobs import RecompileLater
from hoglet.functions.logs.live_tail import LiveTail
from hoglet.functions.runtime.geoip import check_database
from hoglet.functions.runtime.host_calls import HostCalls
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
from hoglet.pipeline.delivery.completion import CompletionWriter
from hoglet.pipeline.delivery.webhook_completion import WebhookCompletion
from hoglet.pipeline.internal_events import InternalEvents
from hoglet.pipeline.recent_events import RecentEvents
from hoglet.pipeline.stored_events import StoredEventLookup, StoredGroups
from hoglet.pipeline.telemetry_outbox import TelemetryOutbox
from hoglet.settings import BadSetting, Settings
from hoglet.warehouse.telemetry import Telemetry


class FunctionServices(msgspec.Struct):
    """Services of functions; each is stored in ``app.state`` under its own name."""

    service: FunctionService
    actions: ActionService
    backfills: Backfills
    calls: HostCalls
    integrations: IntegrationService
    dead_letters: DeadLetters
    match_counts: MatchCounts
    match_explainer: MatchExplainer
    live_tail: LiveTail
    watcher: Watcher
    telemetry: Telemetry
    test_runs: TestRunService
    webhooks: Webhooks
    completion_writer: CompletionWriter


def open_box(settings: Settings) -> SecretBox:
    """The secret box with all configured keys."""
    return SecretBox([key.encode() for key in read_secret_keys(settings)])


def _host_config(settings: Settings) -> HostConfig:
    paths = (settings.geoip_database, settings.bot_list)
    database, bots = (None if path is None else str(path.absolute()) for path in paths)
    problem = None if database is None else check_database(database)
    if problem:
        raise BadSetting(f"HOGLET_GEOIP_DATABASE is not a MaxMind database: {problem}")
    if settings.bot_list is not None:
        _check_text(settings.bot_list)
    has_email = settings.smtp_host is not None
    return HostConfig(has_email=has_email, geoip_database=database, bot_list=bots)


def _check_text(bot_list: Path) -> None:
    try:
        bot_list.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"HOGLET_BOT_LIST cannot be read: {error}.") from None


def _check_certificates(file: Path) -> None:
    try:
        ssl.create_default_context(cafile=file)
    except OSError as error:  # includes ssl.SSLError
        raise BadSetting(
            f"HOGLET_SMTP_CA_FILE has no certificates in PEM format ({error.strerror})."
        ) from None


def _mailer(services: Services) -> Mailer | None:
    settings = services.settings
    if settings.smtp_host is None or find_spec("aiosmtplib") is None:
        return None  # only in hoglet test, which sends nothing; serve checks the extra
    from hoglet.outbound.smtp import SmtpMailer, SmtpServer

    if settings.smtp_ca_file is not None:
        _check_certificates(settings.smtp_ca_file)
    server = SmtpServer(
        host=settings.smtp_host,
        port=settings.smtp_port,
        security=settings.smtp_security,
        username=settings.smtp_username,
        password=settings.smtp_password,
        ca_file=settings.smtp_ca_file,
    )
    return SmtpMailer(server, services.clock)


def _mail_domain(settings: Settings) -> str:
    return urlsplit(settings.resolved_site_url()).hostname or "hoglet"


def build_functions(
    services: Services, property_types: PropertyTypes, cohorts: CohortCriteria
) -> FunctionServices:
    """The services on the shared database, queue and sandbox."""
    settings, sandbox, access = services.settings, services.sandboxes.run, services.access
    site_url = settings.resolved_site_url()
    templates, telemetry = Templates(), Telemetry(services.warehouse)
    watcher = _watcher(services)
    service = _function_service(services, watcher, templates, property_types, cohorts)
    calls = _host_calls(services, service.box)
    dead_letters = _dead_letters(services, service)
    writer = CompletionWriter(
        queue=services.queue,
        outbox=TelemetryOutbox(services.database, telemetry, services.health),
        dead_letters=dead_letters,
        watcher=watcher,
        clock=services.clock,
    )
    match_counts, match_explainer = _match_services(services, service)
    return FunctionServices(
        service=service,
        actions=_actions(services),
        backfills=Backfills(service, services.queue),
        calls=calls,
        integrations=IntegrationService(
            services.database, service.box, services.clock, access.activity, templates.icon_url
        ),
        dead_letters=dead_letters,
        match_counts=match_counts,
        match_explainer=match_explainer,
        live_tail=LiveTail(telemetry, services.clock),
        watcher=watcher,
        telemetry=telemetry,
        test_runs=TestRunService(service, sandbox, calls, site_url),
        webhooks=Webhooks(service, sandbox, _webhooks(services, writer), access.project, site_url),
        completion_writer=writer,
    )


def _watcher(services: Services) -> Watcher:
    """The watcher; it and the activity log report to internal destinations."""
    numbers = msgspec.convert(services.settings.watcher, WatcherSettings)
    watcher = Watcher(services.clock, services.access.activity, numbers)
    internal = InternalEvents(services.queue, services.clock)
    services.access.activity.listeners.append(internal.on_activity)
    watcher.listeners.append(internal.on_state_change)
    return watcher


def _function_service(
    services: Services,
    watcher: Watcher,
    templates: Templates,
    property_types: PropertyTypes,
    cohorts: CohortCriteria,
) -> FunctionService:
    environment = CompileEnvironment(
        compiler=SandboxCompiler(services.sandboxes.compile),
        templates=templates,
        property_types=property_types,
        cohorts=cohorts,
        host_config=_host_config(services.settings),
    )
    return FunctionService(
        environment,
        database=services.database,
        box=open_box(services.settings),
        clock=services.clock,
        activity=services.access.activity,
        watcher=watcher,
    )


def _host_calls(services: Services, box: SecretBox) -> HostCalls:
    credentials = Credentials(services.outbound, services.database, box)
    return HostCalls(credentials, _mailer(services), _mail_domain(services.settings))


def _dead_letters(services: Services, service: FunctionService) -> DeadLetters:
    settings = services.settings
    keep = DeadLetterSettings(
        keep_days=settings.dead_letter_days, keep_per_function=settings.dead_letters_per_function
    )
    return DeadLetters(service, services.queue, keep, enqueue=lines.enqueue)


def _match_services(
    services: Services, service: FunctionService
) -> tuple[MatchCounts, MatchExplainer]:
    site_url = services.settings.resolved_site_url()
    groups = StoredGroups(services.database, EventsRepository())
    stored = StoredEventLookup(services.warehouse, services.access, groups, site_url)
    recent = RecentEvents(services.warehouse, stored, services.clock)
    sandbox = services.sandboxes.run
    return (
        MatchCounts(service, sandbox, recent.pages),
        MatchExplainer(service, sandbox, stored.find, site_url),
    )


def _actions(services: Services) -> ActionService:
    access = services.access
    return ActionService(
        services.database,
        services.clock,
        access.activity,
        RecompileLater(services.queue),
        changed=access.forget,
    )


def _webhooks(services: Services, writer: CompletionWriter) -> WebhookCompletion:
    return WebhookCompletion(
        database=services.database, queue=services.queue, writer=writer, clock=services.clock
    )

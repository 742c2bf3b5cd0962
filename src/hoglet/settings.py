"""Every setting of hoglet, read from ``HOGLET_*`` environment variables.

Only the composition root (``hoglet.app``) and the command line import this; packages receive
values. ``docs/reference/settings.md`` is generated from the descriptions here.
"""

import difflib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self
from urllib.parse import quote, urlsplit

import msgspec
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    FilePath,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict, SettingsError
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from hoglet.functions.secrets.box import read_keys
from hoglet.functions.watcher.rules import WatcherSettings
from hoglet.kit.errors import HogletError
from hoglet.outbound.targets import private_target
from hoglet.spool.address import nats_address

type Role = Literal["api", "pipeline", "executor", "console"]

_CENTURY_DAYS = 36_500  # beyond it, dates overflow
_YEAR_MINUTES = 525_600

# Read by commands, not by the server.
_CLIENT_VARIABLES = frozenset({"url", "project", "profile", "api_key"})

ALL_ROLES: tuple[Role, ...] = ("api", "pipeline", "executor", "console")


def _split(value: object) -> object:
    """``"a, b"`` → ``["a", "b"]``; lists are returned as they are."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


def _fernet_keys(value: object) -> object:
    text = ",".join(map(str, value)) if isinstance(value, list) else value
    return read_keys(text) if isinstance(text, str) else text


def _key(prefix: str, kind: str) -> AfterValidator:
    pattern = re.compile(prefix + r"[A-Za-z0-9_-]{1,200}")

    def check(text: str) -> str:
        if not pattern.fullmatch(text):
            raise ValueError(
                f"{kind} is {prefix} followed by 1 to 200 ASCII letters, digits, - or _; unset it "
                "to have one generated"
            )
        return text

    return AfterValidator(check)


def _private_target(text: str) -> str:
    private_target(text)  # raises ValueError
    return text


def _address(*schemes: str) -> AfterValidator:
    def check(text: str) -> str:
        if not text.startswith(schemes):
            raise ValueError(f"it must start with {' or '.join(schemes)}")
        return text

    return AfterValidator(check)


def _listening_address(text: str) -> str:
    if "/" in text or not text.strip():
        raise ValueError(
            "this is the address to listen on, such as 127.0.0.1 or 0.0.0.0; commands use "
            "HOGLET_URL to find the server"
        )
    return text.strip()


def _database_url(text: str) -> str:
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise ValueError("not a URL such as postgresql+psycopg://user@host:5432/name") from None
    if not url.database or url.database == ":memory:":
        raise ValueError("it must name a persistent database")
    if text.startswith("sqlite") and (url.query or url.database.startswith("file:")):
        raise ValueError("SQLite takes a path, without options")
    if "@" in (url.host or ""):  # part of a password, which errors would print
        raise ValueError("write @ as %40 in the user name and the password")
    return text


def _folder(path: Path) -> Path:
    if "?" in str(path.absolute()):
        raise ValueError("the warehouse cannot be in a folder with ? in its path")
    return path


def _warehouse_url(text: str) -> str:
    if text.startswith("chdb://"):
        if not text.startswith(("chdb:///", "chdb://:memory:")):
            raise ValueError(
                "the folder must be an absolute path after three slashes, chdb:///data/x"
            )
        _folder(Path(text.removeprefix("chdb://")))
        return text
    try:
        parts = urlsplit(text)
        is_complete = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_complete = False
    if not is_complete:
        raise ValueError("not a URL such as clickhouse://user@host:8123/name")
    if "?" in text or "#" in text:  # options would be ignored, even secure=1
        raise ValueError(
            "it cannot have options after ?; use clickhouses:// for TLS, and write ? and # in a "
            "password as %3F and %23"
        )
    return text


def _web_address(text: str) -> str:
    try:
        parts = urlsplit(text)
        is_complete = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_complete = False
    if not is_complete or re.search(r"[?#\s]", text):
        raise ValueError("not an address such as https://hoglet.example.com")
    return text


def _spool_url(text: str) -> str:
    nats_address(text)
    return text


def _watcher_numbers(numbers: dict[str, Any]) -> dict[str, Any]:
    unknown = sorted(
        set(numbers) - {field.name for field in msgspec.structs.fields(WatcherSettings)}
    )
    if unknown:
        raise ValueError(f"there is no setting {unknown[0]}")
    try:
        msgspec.convert(numbers, WatcherSettings)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None
    return numbers


type CommaList[T] = Annotated[list[T], NoDecode, BeforeValidator(_split)]
type PrivateTarget = Annotated[str, AfterValidator(_private_target)]
type PersonalKey = Annotated[str, _key("phx_", "a personal API key")]
type ProjectToken = Annotated[str, _key("phc_", "a project token")]
type FernetKeys = Annotated[list[str], NoDecode, BeforeValidator(_fernet_keys)]
type ListeningAddress = Annotated[str, AfterValidator(_listening_address)]
type DatabaseUrl = Annotated[
    str,
    _address("sqlite+aiosqlite:///", "postgresql+psycopg://"),
    AfterValidator(_database_url),
]
type WarehouseUrl = Annotated[
    str,
    _address("chdb://", "clickhouse://", "clickhouses://", "clickhouse+http"),
    AfterValidator(_warehouse_url),
]
type SpoolUrl = Annotated[str, AfterValidator(_spool_url)]
type Folder = Annotated[Path, AfterValidator(_folder)]
type WatcherNumbers = Annotated[dict[str, Any], AfterValidator(_watcher_numbers)]
type WebAddress = Annotated[str, _address("http://", "https://"), AfterValidator(_web_address)]


class BadSetting(HogletError):
    """A setting is invalid; the message names the variable, its value and what it accepts."""

    code = "bad_setting"
    blame = "operator"


_MOST: Final = 2**53
_MOST_SECONDS: Final = 10**9
"""Numbers beyond are slips of the pen, and the kernel and the engines refuse them only when they
are used: as limits of workers, for example, so that none would ever start."""


class Settings(BaseSettings):
    """The settings of one hoglet process."""

    model_config = SettingsConfigDict(env_prefix="HOGLET_", extra="ignore", allow_inf_nan=False)

    data_dir: Folder = Field(
        Path("hoglet-data"), description="Folder of the embedded databases and keys."
    )
    host: ListeningAddress = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on.")
    roles: Annotated[list[Role], NoDecode, BeforeValidator(_split)] = Field(
        list(ALL_ROLES), description="Roles of this process: api, pipeline, executor, console."
    )
    site_url: WebAddress | None = Field(
        None, description="Public URL of hoglet; defaults to the listening address."
    )

    database_url: DatabaseUrl | None = Field(
        None,
        description="`sqlite+aiosqlite:///…` or `postgresql+psycopg://…`; SQLite in data_dir.",
    )
    warehouse_url: WarehouseUrl | None = Field(
        None, description="`chdb:///…` or `clickhouse://…`; default: chDB in data_dir."
    )
    warehouse_read_url: WarehouseUrl | None = Field(
        None,
        description="`clickhouse://…` of a user whose profile has `readonly = 2`; queries use it "
        "instead of `HOGLET_WAREHOUSE_URL`.",
    )
    warehouse_cluster: str | None = Field(
        None,
        description="Name of the ClickHouse cluster; creates replicated and distributed tables.",
    )

    spool_url: SpoolUrl | None = Field(
        None,
        description="`nats://…` of a NATS server with JetStream that keeps accepted events until "
        "they are stored; PostgreSQL by default. The path names the stream (`hoglet`), "
        "`?replicas=3` its copies, `?keep_seconds=60` how long stored events are kept.",
    )

    allow_hosts: CommaList[PrivateTarget] = Field(
        [], description="Private hosts, addresses and CIDRs that functions can reach."
    )
    secret_keys: FernetKeys = Field(
        [],
        description="Fernet keys for stored secrets, newest first, separated by commas or "
        "newlines; defaults to a key file in data_dir.",
    )
    smtp_host: str | None = Field(
        None, description="SMTP server for `sendEmail`, which is only available if this is set."
    )
    smtp_port: int | None = Field(
        None,
        ge=1,
        le=65535,
        description="Port of the SMTP server; defaults to 587, "
        "465 or 25, depending on smtp_security.",
    )
    smtp_security: Literal["starttls", "tls", "none"] = Field(
        "starttls",
        description="Encryption of the SMTP connection; there is no fallback to a weaker one.",
    )
    smtp_username: str | None = Field(None, description="SMTP user name.")
    smtp_password: str | None = Field(None, description="SMTP password.")
    smtp_ca_file: FilePath | None = Field(
        None, description="CA certificates to trust for the SMTP server instead of the system's."
    )
    geoip_database: FilePath | None = Field(
        None,
        description="MaxMind database (`.mmdb`) for `geoipLookup`; without it "
        "all lookups return null.",
    )
    bot_list: FilePath | None = Field(
        None, description="File with additional bots: user agents and address ranges, one per line."
    )
    bootstrap_personal_api_key: PersonalKey | None = Field(
        None, description="Personal API key of the first user, `phx_…`; generated if not set."
    )
    bootstrap_project_token: ProjectToken | None = Field(
        None, description="Token of the first project, `phc_…`; generated if not set."
    )

    executor_workers: int = Field(
        2, ge=1, le=256, description="Worker processes that run functions."
    )
    executor_seconds: float = Field(
        5,
        ge=2,
        description="CPU time for up to 16 steps of functions in a worker, in "
        "seconds; then the worker is killed.",
    )
    pipeline_workers: int = Field(
        1,
        ge=1,
        le=64,
        description="Worker processes that process captured events. With SQLite, the events of a "
        "project are processed by one of them at a time, so more than one helps only with several "
        "projects.",
    )
    partitions: int = Field(
        16,
        ge=1,
        le=1024,
        description="Partitions of the spool with PostgreSQL, the same on all servers. The events "
        "of a distinct id are in one partition, and a partition is processed by one server at a "
        "time.",
    )
    pipeline_group_bytes: int = Field(
        4 * 1024**2,
        ge=1024,
        description="Maximum size of the captured requests processed as a group, in bytes; a "
        "larger request is a group of its own. A byte takes up to 65 bytes of "
        "worker_memory_bytes.",
    )
    pipeline_group_events: int = Field(
        8000, ge=1, description="Maximum number of events processed as a group."
    )
    pipeline_seconds: float = Field(
        120,
        gt=0,
        description="CPU time for a group, in seconds; then it is split in half.",
    )
    worker_memory_bytes: int = Field(
        1024**3,
        ge=256 * 1024**2,
        description="Address space limit of each worker process, in bytes.",
    )
    free_disk_bytes: int = Field(
        64 * 1024**2,
        ge=0,
        description="Free space in data_dir below which `/_readyz` returns 503, in bytes.",
    )
    compile_workers: int = Field(
        1, ge=1, le=256, description="Worker processes that parse and compile code and queries."
    )
    query_seconds: float = Field(
        10, gt=0, le=60, description="Time limit of an endpoint run, in seconds."
    )
    query_memory_bytes: int = Field(
        2 * 1024**3, gt=0, description="Memory limit of a query, in bytes."
    )
    query_concurrency: int = Field(
        0, ge=0, description="Maximum number of concurrent queries; 0: two per core."
    )
    query_concurrency_materialized: int = Field(
        10, gt=0, description="Maximum number of concurrent reads of materialized endpoints."
    )
    cohort_minutes: float = Field(
        15,
        gt=0,
        le=_YEAR_MINUTES,
        description="Minutes after which a dynamic cohort is recalculated.",
    )
    query_queue_seconds: float = Field(
        30,
        ge=0,
        description="Seconds that a run waits for a free query slot before it is rejected.",
    )
    query_cache_bytes: int = Field(
        64 * 1024**2, ge=0, description="Memory for cached results of endpoints, in bytes."
    )
    query_result_bytes: int = Field(
        128 * 1024**2,
        gt=0,
        description="Maximum size of the result of an endpoint run, in bytes of JSON.",
    )
    events_retention_days: int = Field(
        0,
        ge=0,
        le=_CENTURY_DAYS,
        description="Days for which events are kept, by timestamp; 0: forever.",
    )
    dedup_window_days: int = Field(
        7,
        ge=1,
        le=90,
        description="Days within which an event that is sent again with its uuid is stored once.",
    )
    logs_retention_days: int = Field(
        90,
        ge=1,
        le=_CENTURY_DAYS,
        description="Days for which log lines of functions and endpoints are kept.",
    )
    metrics_retention_days: int = Field(
        365,
        ge=1,
        le=_CENTURY_DAYS,
        description="Days for which metrics of functions and the query log are kept.",
    )
    dead_letter_days: int = Field(
        7, ge=1, le=_CENTURY_DAYS, description="Days for which dead letters are kept."
    )
    dead_letters_per_function: int = Field(
        10_000,
        ge=1,
        description="Maximum number of dead letters kept per function; the oldest are deleted "
        "first.",
    )
    definitions_per_project: int = Field(
        10_000,
        ge=1,
        description="Maximum number of event names, and of property names of each kind, recorded "
        "per project; further ones are dropped with an ingestion warning.",
    )
    watcher: WatcherNumbers = Field(
        {},
        description="Thresholds of the watcher that differ from the defaults, as "
        'JSON: `{"disables": false, "degrade_error_rate": 0.8}`.',
    )
    host_concurrency: int = Field(
        256,
        ge=1,
        description="Maximum number of concurrent requests of functions per host, in each "
        "executor.",
    )
    host_requests_per_second: float = Field(
        0,
        ge=0,
        description="Requests of functions per host and second; executors on one PostgreSQL "
        "share it; 0: no limit.",
    )
    rate_limit_burst_per_minute: int = Field(
        0, ge=0, description="Requests per minute and key; 0: no limit."
    )
    rate_limit_sustained_per_hour: int = Field(
        0, ge=0, description="Requests per hour and key; 0: no limit."
    )
    rate_limit_materialized_burst_per_minute: int = Field(
        0,
        ge=0,
        description="Runs of materialized endpoints per minute and key; 0: no limit.",
    )
    rate_limit_materialized_sustained_per_hour: int = Field(
        0,
        ge=0,
        description="Runs of materialized endpoints per hour and key; 0: no limit.",
    )
    rate_limit_project_burst_per_minute: int = Field(
        0, ge=0, description="Requests per minute and project, over all its keys; 0: no limit."
    )
    rate_limit_project_sustained_per_hour: int = Field(
        0, ge=0, description="Requests per hour and project, over all its keys; 0: no limit."
    )
    request_body_bytes: int = Field(
        20 * 1024**2, gt=0, description="Maximum size of a request body, in bytes."
    )
    connections: int = Field(
        0,
        ge=0,
        description="Maximum number of concurrent connections; 0: as many as the limit of open "
        "files allows.",
    )
    request_body_seconds: float = Field(
        30, gt=0, description="Time limit for receiving a request body, in seconds."
    )
    request_header_seconds: float = Field(
        30, gt=0, description="Time limit for receiving request headers, in seconds (Linux)."
    )
    request_buffer_bytes: int = Field(
        512 * 1024**2,
        gt=0,
        description="Memory for all request bodies together, in bytes; beyond it, "
        "large ones get 503.",
    )
    response_stall_seconds: float = Field(
        60,
        gt=0,
        description="Seconds without reading after which a client is disconnected (Linux).",
    )
    drain_seconds: float = Field(
        0,
        ge=0,
        description="Seconds to keep serving after SIGTERM while `/_readyz` returns "
        "503, so that a load balancer can take the server out of "
        "rotation; a second signal ends this delay.",
    )
    trust_proxy: bool = Field(
        False,
        description="Trust `X-Forwarded-For`; use only behind a proxy that sets it.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Minimum level of hoglet's own log."
    )
    log_format: Literal["auto", "console", "json"] = Field(
        "auto",
        description="Log format: `console` or `json`; defaults to `console` "
        "on a terminal, else `json`.",
    )

    @model_validator(mode="after")
    def _roles_fit(self) -> Self:
        roles = set(self.roles)
        if not roles:
            raise _unfit("roles", "specify at least one of api, pipeline, executor, console")
        if "console" in roles and "api" not in roles:
            raise _unfit("roles", "the console needs the role api in the same process")
        if self.database_url and self.database_url.startswith("postgresql"):
            self._check_shared(roles)
        if self.spool_url and not self.resolved_database_url().startswith("postgresql"):
            raise _unfit("spool_url", "it needs PostgreSQL; set HOGLET_DATABASE_URL too")
        is_embedded = self.resolved_warehouse_url().startswith("chdb")
        for name in ("warehouse_read_url", "warehouse_cluster"):
            if is_embedded and getattr(self, name):
                raise _unfit(name, "it needs a ClickHouse server; set HOGLET_WAREHOUSE_URL too")
        if (self.warehouse_read_url or "").startswith("chdb"):
            raise _unfit("warehouse_read_url", "not a URL such as clickhouse://user@host:8123/name")
        return self

    def _check_shared(self, roles: set[Role]) -> None:
        """Validate settings that processes sharing a PostgreSQL database must agree on."""
        if roles != set(ALL_ROLES) and not self.secret_keys:
            raise _unfit(
                "secret_keys", "processes of one server must share the same keys; set them"
            )
        is_embedded = self.resolved_warehouse_url().startswith("chdb")
        if ("api" in roles) != ("pipeline" in roles) and is_embedded:
            text = (
                "api and pipeline in different processes require a ClickHouse server; "
                "chDB works in one process only"
            )
            raise _unfit("warehouse_url", text)

    @field_validator("*")
    @classmethod
    def _is_sensible(cls, value: object) -> object:
        most = _MOST_SECONDS if isinstance(value, float) else _MOST
        if isinstance(value, int | float) and value > most:
            raise ValueError(f"it must be at most {most}")
        return value

    def resolved_database_url(self) -> str:
        """URL of the metadata database, ``sqlite+aiosqlite:////data/hoglet.db`` by default."""
        path = quote(str(self.data_dir.absolute() / "hoglet.db"))  # a path can contain # and %
        return self.database_url or f"sqlite+aiosqlite:///{path}"

    def resolved_warehouse_url(self) -> str:
        """URL of the warehouse, ``chdb:////data/warehouse`` by default."""
        return self.warehouse_url or f"chdb://{self.data_dir.absolute()}/warehouse"

    def resolved_site_url(self) -> str:
        """Public URL of hoglet, without a trailing slash."""
        everywhere = {"127.0.0.1", "0.0.0.0", "::"}  # noqa: S104 (compared, not bound)
        host = "localhost" if self.host in everywhere else _in_url(self.host)
        return (self.site_url or f"http://{host}:{self.port}").rstrip("/")

    def local_url(self) -> str:
        """Where processes on this machine reach the server, ``http://127.0.0.1:8000``."""
        loopback = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (compared, not bound)
        return f"http://{_in_url(loopback.get(self.host, self.host))}:{self.port}"


def _in_url(host: str) -> str:
    """An address as URLs contain it: ``[::1]``, ``127.0.0.1``."""
    return f"[{host}]" if ":" in host else host


def load_settings(**given: Any) -> Settings:
    """Load the settings of this process; given values (not None) override the environment.

    Raises:
        BadSetting: one is invalid, or a variable looks like a misspelt one.
    """
    given = {name: value for name, value in given.items() if value is not None}
    _refuse_misspelt(os.environ)
    _refuse_unreadable(os.environ, given)
    try:
        return Settings(**given)
    except ValidationError as error:
        raise BadSetting(_sentence(error.errors()[0], given)) from None
    except SettingsError as error:  # a value that must be JSON and is not
        name = str(error).partition('"')[2].partition('"')[0]
        raise BadSetting(f"HOGLET_{name.upper()}: the value must be JSON.") from None


_SECRET = frozenset(
    {
        "secret_keys",
        "database_url",
        "warehouse_url",
        "warehouse_read_url",
        "spool_url",
        "bootstrap_personal_api_key",
        "bootstrap_project_token",
        "smtp_password",
    }
)


def _refuse_misspelt(environment: Mapping[str, str]) -> None:
    """Other variables may begin with HOGLET_, too, so only near misses are rejected."""
    known = [*Settings.model_fields, *_CLIENT_VARIABLES]
    prefix = Settings.model_config.get("env_prefix", "").lower()
    for variable in sorted(environment):
        name = variable.lower()
        if not name.startswith(prefix) or name.removeprefix(prefix) in known:
            continue
        given = name.removeprefix(prefix)
        close = difflib.get_close_matches(given, known, n=1, cutoff=0.8)
        close += [each for each in known if sorted(each) == sorted(given)]  # PROT is below 0.8
        if close:
            meant = f"{prefix}{close[0]}".upper()
            raise BadSetting(f"{variable} is not a setting; {meant} is.")


def _refuse_unreadable(environment: Mapping[str, str], given: Mapping[str, Any]) -> None:
    """Python keeps bytes that are not UTF-8 as half characters; no engine or protocol takes them.

    Also in paths: the URLs of the embedded databases contain the data folder.
    """
    texts = {_option(name): str(value) for name, value in given.items()}
    for variable, text in environment.items():  # pydantic ignores their case
        name = variable.lower().removeprefix("hoglet_")
        if name in Settings.model_fields and name not in given:
            texts[variable] = text
    for visible, text in texts.items():
        if text != text.encode(errors="replace").decode():
            raise BadSetting(f"{visible} contains bytes that are not UTF-8.")


def _variable(name: str) -> str:
    return f"HOGLET_{name.upper()}"


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _unfit(name: str, text: str) -> ValueError:
    """The error of a rule that involves several settings; ``name`` is the one to report."""
    error = ValueError(text)
    error.add_note(name)
    return error


def _in_words(message: str) -> str:
    """A message of the validator, which names its own input and parser, for operators.

    Example:
        >>> _in_words("Input should be a valid integer, unable to parse string as an integer")
        'it must be a valid integer'
    """
    return message.partition(", unable to ")[0].replace("Input should be", "it must be")


def _sentence(problem: ErrorDetails, given: dict[str, Any]) -> str:
    """``HOGLET_PORT is "abc": it must be a valid integer.``; values of secrets are not shown."""
    cause = problem.get("ctx", {}).get("error")
    notes: list[str] = getattr(cause, "__notes__", [])
    name = notes[0] if notes else str(problem["loc"][0])
    visible = _option(name) if name in given else _variable(name)
    value = "" if notes or name in _SECRET else f' is "{problem["input"]}"'
    text = str(cause) if isinstance(cause, ValueError) else _in_words(problem["msg"])
    return f"{visible}{value}: {text[:1].lower()}{text[1:]}."

"""Every setting of hoglet, read from ``HOGLET_*`` environment variables; nothing else reads them.

Only the composition root (``hoglet.app``) and the command line use this; rooms are given values.
``docs/reference/settings.md`` is generated from the descriptions here.
"""

import ipaddress
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

import msgspec
from cryptography.fernet import Fernet
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    FilePath,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict, SettingsError
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from hoglet.functions.watcher.rules import WatcherSettings
from hoglet.kit.errors import HogletError

type Role = Literal["api", "pipeline", "executor", "console"]

ALL_ROLES: tuple[Role, ...] = ("api", "pipeline", "executor", "console")


def _split(value: object) -> object:
    """``"a, b"`` → ``["a", "b"]``; lists pass."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


def _fernet_key(text: str) -> str:
    try:
        Fernet(text)
    except ValueError:
        raise ValueError("each is a Fernet key, 32 bytes in URL-safe base64") from None
    return text


def _private_target(text: str) -> str:
    if "/" in text:
        try:
            ipaddress.ip_network(text, strict=False)
        except ValueError:
            raise ValueError(f"{text} is no range of addresses such as 10.1.0.0/16") from None
    return text


def _address(*schemes: str) -> AfterValidator:
    def check(text: str) -> str:
        if not text.startswith(schemes):
            raise ValueError(f"starts with {' or '.join(schemes)}")
        return text

    return AfterValidator(check)


def _listening_address(text: str) -> str:
    if "/" in text or not text.strip():
        raise ValueError(
            "it is the address to listen on, such as 127.0.0.1 or 0.0.0.0; commands find the "
            "server by HOGLET_URL"
        )
    return text.strip()


def _database_url(text: str) -> str:
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise ValueError("it is no URL such as postgresql+psycopg://user@host:5432/name") from None
    if not url.database or url.database == ":memory:":
        raise ValueError("it has to name a database that lasts")
    return text


def _warehouse_url(text: str) -> str:
    if text.startswith("chdb://"):
        if not text.startswith(("chdb:///", "chdb://:memory:")):
            raise ValueError("the folder is an absolute path after three slashes, chdb:///data/x")
        return text
    try:
        parts = urlsplit(text)
        is_complete = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_complete = False
    if not is_complete:
        raise ValueError("it is no URL such as clickhouse://user@host:8123/name")
    return text


def _watcher_numbers(numbers: dict[str, Any]) -> dict[str, Any]:
    unknown = sorted(
        set(numbers) - {field.name for field in msgspec.structs.fields(WatcherSettings)}
    )
    if unknown:
        raise ValueError(f"there is no number {unknown[0]}")
    try:
        msgspec.convert(numbers, WatcherSettings)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None
    return numbers


type CommaList[T] = Annotated[list[T], NoDecode, BeforeValidator(_split)]
type PrivateTarget = Annotated[str, AfterValidator(_private_target)]
type FernetKey = Annotated[str, AfterValidator(_fernet_key)]
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
type WatcherNumbers = Annotated[dict[str, Any], AfterValidator(_watcher_numbers)]
type WebAddress = Annotated[str, _address("http://", "https://")]


class BadSetting(HogletError):
    """A setting cannot be used; the sentence names the variable, its value and what it takes."""

    code = "bad_setting"
    blame = "operator"


class Settings(BaseSettings):
    """The settings of one hoglet process."""

    model_config = SettingsConfigDict(env_prefix="HOGLET_", extra="ignore")

    data_dir: Path = Field(
        Path("hoglet-data"), description="Folder of the embedded database, warehouse and keys."
    )
    host: ListeningAddress = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on.")
    roles: Annotated[list[Role], NoDecode, BeforeValidator(_split)] = Field(
        list(ALL_ROLES), description="What this process does: api, pipeline, executor, console."
    )
    site_url: WebAddress | None = Field(
        None, description="Address users reach hoglet at; default: the listening address."
    )

    database_url: DatabaseUrl | None = Field(
        None,
        description="`sqlite+aiosqlite:///…` or `postgresql+psycopg://…`; SQLite in data_dir.",
    )
    warehouse_url: WarehouseUrl | None = Field(
        None, description="`chdb:///…` or `clickhouse://…`; default: chDB in data_dir."
    )
    warehouse_cluster: str | None = Field(
        None, description="ClickHouse cluster name; chooses the clustered form of the tables."
    )
    queue_url: Literal["sql"] = Field(
        "sql", description="Where jobs wait; `sql`, the metadata database, is the only kind so far."
    )

    allow_hosts: CommaList[PrivateTarget] = Field(
        [], description="Private hosts, addresses and CIDRs that functions may reach."
    )
    secret_keys: CommaList[FernetKey] = Field(
        [],
        description="Fernet keys for stored secrets, newest first; a key file in data_dir.",
    )
    smtp_host: str | None = Field(
        None, description="SMTP server of `sendEmail`, which exists only when this is set."
    )
    smtp_port: int | None = Field(
        None, ge=1, le=65535, description="Its port; 587, 465 or 25 by its security."
    )
    smtp_security: Literal["starttls", "tls", "none"] = Field(
        "starttls", description="How the connection to it is protected; never less than this."
    )
    smtp_username: str | None = Field(None, description="Name to log in to it with.")
    smtp_password: str | None = Field(None, description="Password to log in to it with.")
    smtp_ca_file: FilePath | None = Field(
        None, description="Certificates to trust for it instead of the system's."
    )
    geoip_database: FilePath | None = Field(
        None, description="MaxMind database (`.mmdb`) of `geoipLookup`, which else finds nothing."
    )
    bot_list: FilePath | None = Field(
        None, description="Bots to know besides our own: user agents and ranges, one a line."
    )
    bootstrap_personal_api_key: str | None = Field(
        None, description="Personal API key of the first user, `phx_…`; made up when not set."
    )
    bootstrap_project_token: str | None = Field(
        None, description="Token of the first project, `phc_…`; made up when not set."
    )

    executor_workers: int = Field(2, ge=1, description="Processes that run functions.")
    executor_seconds: float = Field(
        5,
        ge=2,
        description="Processor time for up to 16 steps of a function in one of them, in seconds; "
        "then the process is killed.",
    )
    pipeline_group_bytes: int = Field(
        4 * 1024**2,
        ge=1024,
        description="Most bytes of captured requests that are processed together; a larger "
        "request goes alone. A byte takes up to 65 bytes of worker_memory_bytes.",
    )
    pipeline_group_events: int = Field(
        4000, ge=1, description="Most events that are processed together, likewise."
    )
    pipeline_seconds: float = Field(
        120,
        gt=0,
        description="Processor time for one such group, in seconds; then it is halved.",
    )
    worker_memory_bytes: int = Field(
        1024**3,
        ge=256 * 1024**2,
        description="Address space of each worker process, in bytes.",
    )
    free_disk_bytes: int = Field(
        64 * 1024**2,
        ge=0,
        description="Below this much free space in data_dir `/_readyz` answers 503.",
    )
    compile_workers: int = Field(
        1, ge=1, description="Processes that parse and compile what the API is sent."
    )
    query_seconds: float = Field(
        10, gt=0, le=60, description="Longest run of an endpoint's query, in seconds."
    )
    query_memory_bytes: int = Field(
        2 * 1024**3, gt=0, description="Most memory one query may use, in bytes."
    )
    query_concurrency: int = Field(
        0, ge=0, description="Queries running at once; 0: two for each core."
    )
    query_concurrency_materialized: int = Field(
        10, gt=0, description="Reads of materialized endpoints running at once."
    )
    cohort_minutes: float = Field(
        15, gt=0, description="Minutes after which a dynamic cohort is computed again."
    )
    query_queue_seconds: float = Field(
        30, ge=0, description="How long a run waits for its turn before it is refused, in seconds."
    )
    query_cache_bytes: int = Field(
        64 * 1024**2, ge=0, description="Memory for results of endpoints, in bytes."
    )
    query_result_bytes: int = Field(
        128 * 1024**2, gt=0, description="Largest answer of an endpoint's query, in bytes of JSON."
    )
    events_retention_days: int = Field(
        0, ge=0, description="Days after which events are deleted, by their timestamp; 0: never."
    )
    logs_retention_days: int = Field(
        90, ge=1, description="Days that log lines of functions and endpoints are kept."
    )
    metrics_retention_days: int = Field(
        365, ge=1, description="Days that counters of functions and the log of queries are kept."
    )
    dead_letter_days: int = Field(7, ge=1, description="How long dead letters are kept, in days.")
    dead_letters_per_function: int = Field(
        10_000, ge=1, description="Most dead letters kept of one function; the oldest go first."
    )
    definitions_per_project: int = Field(
        10_000,
        ge=1,
        description="Most names of events, and of properties of each kind, that are recorded of a "
        "project; further ones are dropped with an ingestion warning.",
    )
    watcher: WatcherNumbers = Field(
        {},
        description="Numbers of the watcher as JSON, those that differ from the defaults: "
        '`{"disables": false, "degrade_error_rate": 0.8}`.',
    )
    host_concurrency: int = Field(
        256, ge=1, description="Requests of functions to one host at once, in each executor."
    )
    host_requests_per_second: float = Field(
        0, ge=0, description="Requests of functions to one host a second, likewise; 0: no limit."
    )
    rate_limit_burst_per_minute: int = Field(
        0, ge=0, description="Requests a minute for each key; 0: no limit."
    )
    rate_limit_sustained_per_hour: int = Field(
        0, ge=0, description="Requests an hour for each key; 0: no limit."
    )
    rate_limit_materialized_burst_per_minute: int = Field(
        0,
        ge=0,
        description="Runs of materialized endpoints a minute for each key; 0: no limit.",
    )
    rate_limit_materialized_sustained_per_hour: int = Field(
        0,
        ge=0,
        description="Runs of materialized endpoints an hour for each key; 0: no limit.",
    )
    rate_limit_project_burst_per_minute: int = Field(
        0, ge=0, description="Requests a minute for each project over all its keys; 0: no limit."
    )
    rate_limit_project_sustained_per_hour: int = Field(
        0, ge=0, description="Requests an hour for each project over all its keys; 0: no limit."
    )
    request_body_bytes: int = Field(
        20 * 1024**2, gt=0, description="Largest request body that is read, in bytes."
    )
    connections: int = Field(
        0, ge=0, description="Most connections at once; 0: what the limit of open files leaves."
    )
    request_body_seconds: float = Field(
        30, gt=0, description="Longest time a request body may take to arrive, in seconds."
    )
    request_header_seconds: float = Field(
        30, gt=0, description="Longest time request headers may take to arrive, in seconds (Linux)."
    )
    request_buffer_bytes: int = Field(
        512 * 1024**2,
        gt=0,
        description="Memory of all request bodies together, in bytes; beyond, large ones get 503.",
    )
    response_stall_seconds: float = Field(
        60,
        gt=0,
        description="A client that reads nothing of its response for so long, in seconds, is "
        "disconnected (Linux).",
    )
    drain_seconds: float = Field(
        0,
        ge=0,
        description="Seconds that a server goes on serving after SIGTERM while `/_readyz` answers "
        "503, so that a balancer can take it out first; a second signal stops it at once.",
    )
    trust_proxy: bool = Field(
        False,
        description="Believe `X-Forwarded-For`; only behind a proxy that sets it.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Least level of hoglet's own log."
    )
    log_format: Literal["auto", "console", "json"] = Field(
        "auto", description="`console` on a terminal, `json` elsewhere, or one of the two."
    )

    @model_validator(mode="after")
    def _roles_fit(self) -> Self:
        roles = set(self.roles)
        if not roles:
            raise _unfit("roles", "name at least one of api, pipeline, executor, console")
        if "console" in roles and "api" not in roles:
            raise _unfit("roles", "the console needs the role api in the same process")
        if self.database_url and self.database_url.startswith("postgresql"):
            self._check_shared(roles)
        return self

    def _check_shared(self, roles: set[Role]) -> None:
        """Processes that share a PostgreSQL also share what the others cannot see."""
        if roles != set(ALL_ROLES) and not self.secret_keys:
            raise _unfit("secret_keys", "processes of one server need the same keys; set them")
        is_embedded = self.resolved_warehouse_url().startswith("chdb")
        if ("api" in roles) != ("pipeline" in roles) and is_embedded:
            text = (
                "api and pipeline in different processes need a ClickHouse server; chDB is of one"
            )
            raise _unfit("warehouse_url", text)

    def resolved_database_url(self) -> str:
        """The metadata database's address, ``sqlite+aiosqlite:////data/hoglet.db`` by default."""
        return self.database_url or f"sqlite+aiosqlite:///{self.data_dir.absolute()}/hoglet.db"

    def resolved_warehouse_url(self) -> str:
        """The warehouse's address, ``chdb:////data/warehouse`` by default."""
        return self.warehouse_url or f"chdb://{self.data_dir.absolute()}/warehouse"

    def resolved_site_url(self) -> str:
        """Where users reach hoglet, without a trailing slash."""
        everywhere = {"127.0.0.1", "0.0.0.0", "::"}  # noqa: S104 (compared, not bound)
        host = "localhost" if self.host in everywhere else self.host
        return (self.site_url or f"http://{host}:{self.port}").rstrip("/")


def load_settings(**given: Any) -> Settings:
    """The settings of this process; what is given (not None) wins over the environment.

    Raises:
        BadSetting: one cannot be used.
    """
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        raise BadSetting(_sentence(error.errors()[0], given)) from None
    except SettingsError as error:  # a value that has to be JSON and is not
        name = str(error).partition('"')[2].partition('"')[0]
        raise BadSetting(f"HOGLET_{name.upper()}: its value has to be JSON.") from None


_SECRET = frozenset(
    {"secret_keys", "database_url", "warehouse_url", "bootstrap_personal_api_key", "smtp_password"}
)


def _unfit(name: str, text: str) -> ValueError:
    """A rule between settings; the name goes with the error, see :func:`_sentence`."""
    error = ValueError(text)
    error.add_note(name)
    return error


def _sentence(problem: ErrorDetails, given: dict[str, Any]) -> str:
    """``HOGLET_PORT is "abc": a valid integer is wanted.``; secrets are not repeated."""
    cause = problem.get("ctx", {}).get("error")
    notes: list[str] = getattr(cause, "__notes__", [])
    name = notes[0] if notes else str(problem["loc"][0])
    shown = (
        f"--{name.replace('_', '-')}" if given.get(name) is not None else f"HOGLET_{name.upper()}"
    )
    value = "" if notes or name in _SECRET else f' is "{problem["input"]}"'
    text = str(cause) if isinstance(cause, ValueError) else problem["msg"]
    return f"{shown}{value}: {text[:1].lower()}{text[1:]}."

"""An invalid HOGLET_* value results in one sentence that names it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import make_url

from hoglet.settings import BadSetting, Settings, load_settings


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("PORT", "ninety", 'HOGLET_PORT is "ninety"'),
        ("ROLES", "api,cook", 'HOGLET_ROLES is "cook"'),
        ("ROLES", "", "HOGLET_ROLES: specify at least one of api, pipeline, executor, console."),
        ("ROLES", "console", "HOGLET_ROLES: the console needs the role api"),
        ("DATABASE_URL", "mysql://me:hunter2@host/x", "HOGLET_DATABASE_URL: it must start with"),
        ("WAREHOUSE_URL", "duckdb://x", "HOGLET_WAREHOUSE_URL: it must start with chdb://"),
        ("ALLOW_HOSTS", "crm.internal,10.0.0.0/99", "10.0.0.0/99 is not an address range"),
        ("ALLOW_HOSTS", "crm.internal:8080", "ports and wildcards are not used"),
        ("ALLOW_HOSTS", "*.internal", "ports and wildcards are not used"),
        ("ALLOW_HOSTS", "[::1]:80", "ports and wildcards are not used"),
        ("ALLOW_HOSTS", "me@crm.internal", "ports and wildcards are not used"),
        ("ALLOW_HOSTS", "http://crm.internal/", "is not an address range"),
        ("ALLOW_HOSTS", "a b", "is not a host name, an address or a range"),
        ("ALLOW_HOSTS", "1.2.3.4.5", "is not a host name, an address or a range"),
        ("SECRET_KEYS", "hunter2", "HOGLET_SECRET_KEYS: each is a Fernet key"),
        (
            "SITE_URL",
            "hoglet.example",
            'HOGLET_SITE_URL is "hoglet.example": it must start with http',
        ),
        ("SITE_URL", "http://", "not an address such as https://"),
        ("SITE_URL", "https://a b", "not an address such as https://"),
        ("SITE_URL", "https://host:x", "not an address such as https://"),
        ("SITE_URL", "https://host/?x", "not an address such as https://"),
        ("DATABASE_URL", "sqlite+aiosqlite:////data/x.db?mode=ro", "without options"),
        ("DATABASE_URL", "sqlite+aiosqlite:///file:x?uri=true", "without options"),
        ("WATCHER", '{"nope": 1}', "there is no setting nope"),
        ("WATCHER", '{"capacity": "x"}', "HOGLET_WATCHER"),
        ("WATCHER", "{", "HOGLET_WATCHER: the value must be JSON"),
        ("HOST", "http://127.0.0.1:8000", "commands use HOGLET_URL to find the server"),
        ("HOST", " ", "HOGLET_HOST"),
        ("PORT", "65536", 'HOGLET_PORT is "65536": it must be less than or equal to 65535.'),
        ("PORT", "abc", 'HOGLET_PORT is "abc": it must be a valid integer.'),
        ("PIPELINE_WORKERS", "0", "HOGLET_PIPELINE_WORKERS"),
        ("PIPELINE_WORKERS", "1000", "HOGLET_PIPELINE_WORKERS"),
        ("PIPELINE_SECONDS", "inf", "HOGLET_PIPELINE_SECONDS"),
        ("EXECUTOR_WORKERS", "1000", "HOGLET_EXECUTOR_WORKERS"),
        ("COMPILE_WORKERS", "1000", "HOGLET_COMPILE_WORKERS"),
        ("WORKER_MEMORY_BYTES", "1" + 22 * "0", "must be at most 9007199254740992."),
        ("REQUEST_BODY_SECONDS", "1e12", "must be at most 1000000000."),
        ("DRAIN_SECONDS", "inf", "HOGLET_DRAIN_SECONDS"),
        ("QUERY_QUEUE_SECONDS", "nan", "HOGLET_QUERY_QUEUE_SECONDS"),
        ("COHORT_MINUTES", "1e300", "HOGLET_COHORT_MINUTES"),
        ("DEAD_LETTER_DAYS", "10000000000", "HOGLET_DEAD_LETTER_DAYS"),
        ("EVENTS_RETENTION_DAYS", "10000000000", "HOGLET_EVENTS_RETENTION_DAYS"),
        ("LOGS_RETENTION_DAYS", "10000000000", "HOGLET_LOGS_RETENTION_DAYS"),
        ("METRICS_RETENTION_DAYS", "10000000000", "HOGLET_METRICS_RETENTION_DAYS"),
        ("PIPELINE_WORKER", "2", "; HOGLET_PIPELINE_WORKERS is."),
        ("DATABASE", "sqlite", "; HOGLET_DATABASE_URL is."),
        ("DATADIR", "/data", "; HOGLET_DATA_DIR is."),
        ("ALLOWED_HOSTS", "10.0.0.1", "; HOGLET_ALLOW_HOSTS is."),
        ("PORT", "-1", 'HOGLET_PORT is "-1"'),
        ("DATABASE_URL", "postgresql+psycopg://me:hunter2@host:x/y", "not a URL such as"),
        ("DATABASE_URL", "sqlite+aiosqlite:///", "it must name a persistent database"),
        ("DATABASE_URL", "sqlite+aiosqlite:///:memory:", "it must name a persistent database"),
        (
            "DATABASE_URL",
            "postgresql+psycopg://me:hunter2@host",
            "it must name a persistent database",
        ),
        ("WAREHOUSE_URL", "clickhouse://me:hunter2@host:x/y", "not a URL such as"),
        ("WAREHOUSE_URL", "clickhouse://", "not a URL such as"),
        (
            "WAREHOUSE_URL",
            "clickhouse://host/x?password=hunter2&secure=1",
            "cannot have options after ?",
        ),
        ("WAREHOUSE_URL", "clickhouse://me:1?hunter2@host/x", "cannot have options after ?"),
        ("WAREHOUSE_URL", "clickhouse://me@host:8123#hunter2/x", "cannot have options after ?"),
        ("DATABASE_URL", "postgresql+psycopg://me:a@hunter2@host/x", "write @ as %40"),
        ("DATA_DIR", "/data/a?b", 'HOGLET_DATA_DIR is "/data/a?b": the warehouse cannot be in'),
        ("WAREHOUSE_URL", "chdb:///data/a?b", "cannot be in a folder with ?"),
        ("WAREHOUSE_URL", "chdb://data/warehouse", "an absolute path after three slashes"),
        ("BOOTSTRAP_PERSONAL_API_KEY", "", "is phx_ followed by"),
        ("BOOTSTRAP_PERSONAL_API_KEY", "phx_", "unset it to have one generated."),
        ("BOOTSTRAP_PERSONAL_API_KEY", "hunter2", "HOGLET_BOOTSTRAP_PERSONAL_API_KEY: a personal"),
        ("BOOTSTRAP_PERSONAL_API_KEY", "PHX_hunter2", "is phx_ followed by"),
        ("BOOTSTRAP_PERSONAL_API_KEY", "phs_hunter2", "is phx_ followed by"),
        ("BOOTSTRAP_PERSONAL_API_KEY", "phx_hunter2 ", "is phx_ followed by"),
        ("BOOTSTRAP_PERSONAL_API_KEY", "phx_hunter2\n", "is phx_ followed by"),
        ("BOOTSTRAP_PERSONAL_API_KEY", '"phx_hunter2"', "is phx_ followed by"),
        ("BOOTSTRAP_PERSONAL_API_KEY", "phx_hunter2\u00e9", "is phx_ followed by"),
        ("BOOTSTRAP_PERSONAL_API_KEY", "phx_\u0661hunter2", "is phx_ followed by"),
        ("BOOTSTRAP_PERSONAL_API_KEY", "phx_hunter2" + "x" * 200, "is phx_ followed by"),
        ("BOOTSTRAP_PROJECT_TOKEN", "", "is phc_ followed by"),
        ("BOOTSTRAP_PROJECT_TOKEN", "hunter2", "HOGLET_BOOTSTRAP_PROJECT_TOKEN: a project token"),
        ("BOOTSTRAP_PROJECT_TOKEN", "phx_hunter2", "is phc_ followed by"),
        ("BOOTSTRAP_PROJECT_TOKEN", "phc_a b", "is phc_ followed by"),
        ("BOOTSTRAP_PROJECT_TOKEN", "phc_a'; --", "is phc_ followed by"),
        ("TRUST_PROXY", "perhaps", 'HOGLET_TRUST_PROXY is "perhaps"'),
    ],
)
def test_a_bad_value_is_named_in_one_sentence(monkeypatch, name, value, reason):
    monkeypatch.setenv(f"HOGLET_{name}", value)
    with pytest.raises(BadSetting) as caught:
        load_settings()
    sentence = caught.value.detail
    assert reason in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert "hunter2" not in sentence


@pytest.mark.parametrize("name", Settings.model_fields)
def test_bytes_that_are_not_utf_8_are_refused(monkeypatch, name):
    variable = f"HOGLET_{name.upper()}"
    monkeypatch.setenv(variable, os.fsdecode(b"/data/hunter2\xe9"))
    with pytest.raises(BadSetting) as caught:
        load_settings()
    assert caught.value.detail == f"{variable} contains bytes that are not UTF-8."


def test_a_folder_whose_name_is_not_utf_8_is_refused():
    with pytest.raises(BadSetting) as caught:
        load_settings(data_dir=Path(os.fsdecode(b"/data/caf\xe9")))
    assert caught.value.detail == "--data-dir contains bytes that are not UTF-8."


POSTGRES = "postgresql+psycopg://hoglet@localhost/hoglet"
KEYS = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
SPLITS = [
    ({"roles": "executor"}, "HOGLET_SECRET_KEYS"),
    ({"roles": "api", "secret_keys": KEYS}, "HOGLET_WAREHOUSE_URL"),
    ({"roles": "pipeline,executor", "secret_keys": KEYS}, "HOGLET_WAREHOUSE_URL"),
    ({"roles": "executor", "secret_keys": KEYS}, None),
    ({"roles": "api,pipeline,console", "secret_keys": KEYS}, None),
    ({"roles": "api", "secret_keys": KEYS, "warehouse_url": "clickhouse://host/x"}, None),
    ({}, None),
]


@pytest.mark.parametrize(("given", "refused"), SPLITS)
def test_processes_that_share_a_database_need_what_they_share(monkeypatch, given, refused):
    for name, value in {"database_url": POSTGRES, **given}.items():
        monkeypatch.setenv(f"HOGLET_{name.upper()}", value)
    if refused is None:
        assert load_settings().database_url == POSTGRES
        return
    with pytest.raises(BadSetting, match=f"^{refused}: "):
        load_settings()


OTHER = "OTg3NjU0MzIxMDk4NzY1NDMyMTA5ODc2NTQzMjEwOTg="


@pytest.mark.parametrize("between", [",", ", ", "\n", " \r\n", " "])
def test_every_key_counts_however_they_are_separated(
    monkeypatch: pytest.MonkeyPatch, between: str
) -> None:
    monkeypatch.setenv("HOGLET_SECRET_KEYS", f"{KEYS}{between}{OTHER}")

    assert load_settings().secret_keys == [KEYS, OTHER]


@pytest.mark.parametrize(
    "text", [f"{KEYS};{OTHER}", KEYS + OTHER, f'["{KEYS}"]', f'"{KEYS}"', KEYS[:-1], "x" + KEYS]
)
def test_a_key_that_is_followed_by_something_is_refused(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("HOGLET_SECRET_KEYS", text)

    with pytest.raises(BadSetting, match="each is a Fernet key") as refused:
        load_settings()

    assert KEYS[:8] not in str(refused.value)


def test_what_is_given_wins_and_is_named_by_its_option(monkeypatch):
    monkeypatch.setenv("HOGLET_PORT", "ninety")
    assert load_settings(port=90).port == 90
    with pytest.raises(BadSetting, match="--port is"):
        load_settings(port=77777)


def test_the_command_exits_with_two_and_no_traceback():
    command = [sys.executable, "-m", "hoglet", "key", "list"]
    ended = subprocess.run(
        command, env={"HOGLET_PORT": "x"}, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith('HOGLET_PORT is "x"')
    assert "Traceback" not in ended.stderr


def test_a_short_name_with_two_characters_swapped_is_refused(monkeypatch):
    monkeypatch.setenv("HOGLET_PROT", "9000")
    with pytest.raises(BadSetting, match=r"HOGLET_PROT is not a setting; HOGLET_PORT is\."):
        load_settings()


@pytest.mark.parametrize(
    "variable", ["HOGLET_SERVICE_HOST", "HOGLET_PORT_80_TCP_PORT", "HOGLET_URL", "HOGLET_PROFILE"]
)
def test_variables_of_commands_and_orchestrators_are_no_misspelt_settings(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "x")

    assert load_settings().pipeline_workers == 1


@pytest.mark.parametrize("name", ["c#", "100%41", "a&b=c", "a b", "é", "a+b;c"])
def test_files_are_in_the_data_folder_whatever_its_name(tmp_path: Path, name: str):
    settings = load_settings(data_dir=tmp_path / name)

    database = make_url(settings.resolved_database_url()).database

    assert database == str(tmp_path / name / "hoglet.db")
    assert settings.resolved_warehouse_url() == f"chdb://{tmp_path / name / 'warehouse'}"


@pytest.mark.parametrize(
    ("host", "site", "local"),
    [
        ("127.0.0.1", "http://localhost:8000", "http://127.0.0.1:8000"),
        ("0.0.0.0", "http://localhost:8000", "http://127.0.0.1:8000"),  # noqa: S104 (compared)
        ("::", "http://localhost:8000", "http://[::1]:8000"),
        ("::1", "http://[::1]:8000", "http://[::1]:8000"),
        ("fd00::5", "http://[fd00::5]:8000", "http://[fd00::5]:8000"),
        ("10.0.0.5", "http://10.0.0.5:8000", "http://10.0.0.5:8000"),
        ("hoglet.test", "http://hoglet.test:8000", "http://hoglet.test:8000"),
    ],
)
def test_the_address_is_a_url(host: str, site: str, local: str) -> None:
    settings = load_settings(host=host, port=8000)

    assert settings.resolved_site_url() == site
    assert settings.local_url() == local

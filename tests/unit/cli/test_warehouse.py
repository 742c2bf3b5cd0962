"""``hoglet admin warehouse`` and the settings of ClickHouse servers."""

import pytest
from typer.testing import CliRunner

from hoglet.cli.main import app
from hoglet.settings import BadSetting, load_settings

SERVER = "clickhouse://hoglet@ch:8123/hoglet"


def test_sync_is_for_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOGLET_WAREHOUSE_CLUSTER", raising=False)
    result = CliRunner().invoke(app, ["admin", "warehouse", "sync"])
    assert result.exit_code != 0
    assert "HOGLET_WAREHOUSE_CLUSTER" in str(result.exception) + result.output


@pytest.mark.parametrize(
    ("name", "value"),
    [("HOGLET_WAREHOUSE_READ_URL", SERVER), ("HOGLET_WAREHOUSE_CLUSTER", "main")],
)
def test_settings_of_servers_need_a_server(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(BadSetting, match=f"{name}: it needs a ClickHouse server"):
        load_settings()
    monkeypatch.setenv("HOGLET_WAREHOUSE_URL", SERVER)
    assert getattr(load_settings(), name.removeprefix("HOGLET_").lower()) == value


def test_an_embedded_warehouse_has_no_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOGLET_WAREHOUSE_URL", SERVER)
    monkeypatch.setenv("HOGLET_WAREHOUSE_READ_URL", "chdb:///data/warehouse")
    with pytest.raises(BadSetting, match="HOGLET_WAREHOUSE_READ_URL: not a URL such as"):
        load_settings()

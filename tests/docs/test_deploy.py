"""The deployment files use existing settings, commands and versions."""

import re
from pathlib import Path

import pytest
import yaml

from hoglet import __version__
from hoglet.settings import Settings
from hoglet.spool.address import nats_address
from support.deploy import (
    COMPOSE,
    DOCKERFILE,
    ROOT,
    UNIT,
    WITH_NATS,
    command,
    image_environment,
    instruction,
)

_KNOWN = {f"HOGLET_{name.upper()}" for name in Settings.model_fields}


@pytest.mark.parametrize(
    "path", [*COMPOSE, WITH_NATS, DOCKERFILE, UNIT], ids=lambda path: path.name
)
def test_every_setting_exists(path: Path) -> None:
    named = set(re.findall(r"HOGLET_[A-Z_]+", path.read_text()))

    assert named
    assert named <= _KNOWN


@pytest.mark.parametrize("path", COMPOSE, ids=lambda path: path.name)
def test_compose_files_use_the_image_of_this_version(path: Path) -> None:
    document = yaml.safe_load(path.read_text())

    ours = [each for each in document["services"].values() if "build" in each]
    assert ours
    for service in ours:
        assert service["image"] == f"hoglet:{__version__}"
        (volume,) = service["volumes"]
        name, _, folder = volume.partition(":")
        assert name in document["volumes"]
        assert folder == image_environment()["HOGLET_DATA_DIR"] == instruction("VOLUME")[0]


def test_the_cluster_shares_what_servers_must_share() -> None:
    services = yaml.safe_load(COMPOSE[1].read_text())["services"]
    servers = [each["environment"] for each in services.values() if "build" in each]

    assert len(servers) == 2
    for setting in ("HOGLET_DATABASE_URL", "HOGLET_WAREHOUSE_URL", "HOGLET_SECRET_KEYS"):
        assert servers[0][setting] == servers[1][setting]


def test_every_server_of_the_cluster_uses_the_broker() -> None:
    cluster = yaml.safe_load(COMPOSE[1].read_text())["services"]
    added = yaml.safe_load(WITH_NATS.read_text())["services"]
    servers = [name for name, each in cluster.items() if "build" in each]

    for name in servers:
        setting = added[name]["environment"]["HOGLET_SPOOL_URL"]
        address = nats_address(re.sub(r"\$\{.*?\}", "secret", setting))
        assert [server.rpartition("@")[2] for server in address.servers] == ["nats:4222"]
        assert added[name]["depends_on"].keys() == {"nats"}
    assert added.keys() == {*servers, "nats"}


def test_the_proxy_of_the_cluster_knows_its_servers() -> None:
    """Without health checks, a rolling restart answered a sixth of all requests with 502."""
    services = yaml.safe_load(COMPOSE[1].read_text())["services"]
    servers = {f"{name}:8000" for name, each in services.items() if "build" in each}
    (volume,) = services["proxy"]["volumes"]
    source, target, _ = volume.split(":")
    proxy = (ROOT / source).read_text()

    assert target == "/etc/caddy/Caddyfile"  # what the image runs with
    assert set(re.findall(r"hoglet-\d:\d+", proxy)) == servers
    assert "health_uri /_readyz" in proxy
    assert "lb_try_duration" in proxy


def test_the_unit_starts_a_server_again_until_its_database_is_up() -> None:
    unit = UNIT.read_text()

    assert "Restart=on-failure" in unit
    assert (
        "RestartPreventExitStatus" not in unit
    )  # status 2 is also that of a database that is away
    assert "StartLimitIntervalSec=0" in unit


def test_what_the_image_copies_exists() -> None:
    ignored = (ROOT / ".dockerignore").read_text().split()
    sources = [
        word
        for line in instruction("COPY")
        if not line.startswith("--from")
        for word in line.split()[:-1]
    ]

    assert "requirements.lock" in sources
    for source in sources:
        assert (ROOT / source).exists()
        assert f"!{source}" in ignored


def test_the_image_does_not_run_as_root() -> None:
    assert instruction("USER") == ["hoglet"]
    assert command(instruction("CMD")[0]) == ["hoglet", "serve"]

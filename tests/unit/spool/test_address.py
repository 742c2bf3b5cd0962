"""Addresses of NATS spools."""

import pytest

from hoglet.spool.address import NatsAddress, nats_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("nats://nats:4222", NatsAddress(servers=["nats://nats:4222"])),
        ("tls://a.example", NatsAddress(servers=["tls://a.example"])),
        ("nats://nats/", NatsAddress(servers=["nats://nats"])),
        (
            "nats://u:p%40w@one:4222, nats://u:p%40w@two/events_1?replicas=3&keep_seconds=0",
            NatsAddress(
                servers=["nats://u:p%40w@one:4222", "nats://u:p%40w@two"],
                stream="events_1",
                replicas=3,
                keep_seconds=0,
            ),
        ),
        (
            "nats://one/a,nats://two/a",
            NatsAddress(servers=["nats://one", "nats://two"], stream="a"),
        ),
        ("nats://[::1]:4222", NatsAddress(servers=["nats://[::1]:4222"])),
    ],
)
def test_servers_stream_and_replicas_are_read(text: str, address: NatsAddress) -> None:
    assert nats_address(text) == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nats",
        "nats:4222",
        "nats://",
        "nats://:4222",
        "nats://host:port",
        "nats://host:99999",
        "kafka://host:9092",
        "http://host:4222",
        "nats://one,redis://two",
        "nats://one,",
        "nats://one/a,nats://two/b",
        "nats://one/a.b",
        "nats://one/a/b",
        "nats://one/*",
        "nats://one/a?replicas=2",
        "nats://one/a?replicas=",
        "nats://one/a?copies=3",
        "nats://one/a?keep_seconds=-1",
        "nats://one/a?keep_seconds=1m",
        "nats://one/a#b",
    ],
)
def test_other_addresses_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"URL|stream|replicas|keep_seconds"):
        nats_address(text)


def test_credentials_are_not_shown() -> None:
    address = nats_address("nats://u:secret@one:4222,nats://token@two")

    assert address.public == "nats://one:4222,nats://two"

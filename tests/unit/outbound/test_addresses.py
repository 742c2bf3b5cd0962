"""Public addresses, and notations of hosts."""

import ipaddress

import pytest

from hoglet.outbound.targets import AllowList, is_public, parse_ip_literal


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",  # noqa: S104 (an address to refuse)
        "10.0.0.1",
        "100.64.0.1",
        "127.0.0.1",
        "127.255.255.255",
        "168.63.129.16",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "203.0.113.9",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "64:ff9b::10.0.0.1",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:808:808::1",
        "fc00::1",
        "fd12:3456::1",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
    ],
)
def test_special_addresses_are_not_public(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_ordinary_addresses_are_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1.", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"),
        ("0177.0.0.1", "127.0.0.1"),
        ("0x7f.0.0.0x1", "127.0.0.1"),
        ("0", "0.0.0.0"),  # noqa: S104 (an address to refuse)
        ("[::1]", "::1"),
        ("::ffff:7f00:1", "::ffff:7f00:1"),
    ],
)
def test_every_notation_of_an_address_is_read(host: str, address: str) -> None:
    assert parse_ip_literal(host) == ipaddress.ip_address(address)


@pytest.mark.parametrize("host", ["example.com", "localhost", "1e100.net", "", "0x7f.example"])
def test_names_are_not_addresses(host: str) -> None:
    assert parse_ip_literal(host) is None


def test_the_allow_list_takes_names_addresses_and_networks() -> None:
    allowed = AllowList(["CRM.internal.", "10.1.0.0/16", "127.0.0.1", " ", "fd00::/8"])

    assert allowed.permits_name("crm.internal")
    assert not allowed.permits_name("other.internal")
    for text, permitted in [
        ("10.1.2.3", True),
        ("10.2.0.1", False),
        ("127.0.0.1", True),
        ("::ffff:127.0.0.1", True),
        ("127.0.0.2", False),
        ("fd12::1", True),
        ("8.8.8.8", True),
    ]:
        assert allowed.permits(ipaddress.ip_address(text)) is permitted, text


@pytest.mark.parametrize(
    ("entry", "host"),
    [
        ("bücher.internal", "xn--bcher-kva.internal"),
        ("BÜCHER.internal.", "XN--BCHER-KVA.internal."),
        ("xn--bcher-kva.internal", "xn--bcher-kva.internal"),
        ("ｃｒｍ.internal", "crm.internal"),
        ("a_b.internal", "a_b.internal"),
    ],
)
def test_allowed_names_are_compared_as_urls_have_them(entry: str, host: str) -> None:
    assert AllowList([entry]).permits_name(host)


@pytest.mark.parametrize(
    "entry", ["127.1", "0x7f.1", "2130706433", "[::ffff:127.0.0.1]", "127.0.0.1.", "127.1.2.3/8"]
)
def test_allowed_addresses_are_read_in_every_notation(entry: str) -> None:
    allowed = AllowList([entry])
    assert allowed.permits(ipaddress.ip_address("::ffff:127.0.0.1"))
    assert not allowed.permits(ipaddress.ip_address("10.0.0.1"))

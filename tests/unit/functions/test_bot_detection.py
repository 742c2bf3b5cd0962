"""Bot detection: the built-in list is valid, and distinguishes visitors from crawlers."""

import ipaddress
from importlib.resources import files
from pathlib import Path

import pytest

from hoglet.functions.runtime.bot_detection import open_bot_detector

BOTS = open_bot_detector(None)


@pytest.mark.parametrize(
    "agent",
    [
        "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        "Mozilla/5.0 AppleWebKit/537.36 (compatible; bingbot/2.0) Chrome/116.0 Safari/537.36",
        "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2)",
        "Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)",
        "Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/120.0.0.0 Safari/537.36",
        "facebookexternalhit/1.1",
        "SEMRUSHBOT",
        "curl/8.5.0",
        "python-requests/2.32",
        "SomeNewCrawler 1.0",
        "Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (Applebot/0.1)",
    ],
)
def test_crawlers_are_known(agent: str) -> None:
    assert BOTS.is_known_user_agent(agent)


@pytest.mark.parametrize(
    "agent",
    [
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/131.0 Safari/537.36",
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.1 Safari",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) Mobile/15E148 Safari/604.1",
        "Mozilla/5.0 (Linux; Android 14; SM-S921B) AppleWebKit/537.36 Chrome/131.0 Mobile Safari",
        "Mozilla/5.0 (Linux; Android 9; CUBOT X19) AppleWebKit/537.36 Chrome/99.0 Mobile Safari",
        "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0",
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/131.0 Safari/537.36 Edg/131.0 OPR/116.0",
        "Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 Mobile/15E148 [FBAN/FBIOS;FBAV/480.0]",
        "Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 Mobile/21F90 Instagram 330.0 [Pinterest/iOS]",
        "",
        None,
        5,
        ["Googlebot"],
    ],
)
def test_visitors_are_not(agent: object) -> None:
    assert not BOTS.is_known_user_agent(agent)


@pytest.mark.parametrize(
    ("ip", "is_bot"),
    [
        ("66.249.64.1", True),
        ("66.249.95.255", True),
        ("66.249.96.0", False),
        ("::ffff:66.249.64.1", True),
        (" 40.77.167.9 ", True),
        ("34.100.182.97", False),  # a slice of a rented cloud
        ("2001:4860:4801:10::1", True),
        ("2001:4860:4860::8888", False),
        ("8.8.8.8", False),
        ("127.0.0.1", False),
        ("66.249.64", False),
        ("", False),
        (None, False),
        (1123635201, False),
    ],
)
def test_addresses_of_crawlers(ip: object, is_bot: bool) -> None:
    assert BOTS.is_known_ip(ip) is is_bot


def test_our_list_is_clean() -> None:
    text = files("hoglet.functions.runtime").joinpath("known_bots.txt").read_text("utf-8")
    entries = [line.partition("#")[0].strip() for line in text.splitlines()]
    entries = [entry for entry in entries if entry]
    ranges = [entry for entry in entries if entry[0].isdigit() and "." in entry]

    assert len(entries) == len(set(entries))
    assert all(entry == entry.lower() and len(entry) >= 4 for entry in entries)
    for entry in ranges:
        network = ipaddress.ip_network(entry)  # no host bits set
        assert network.is_global
        assert network.prefixlen >= 16, "a range of that size hosts visitors too"


def test_an_operator_adds_bots(tmp_path: Path) -> None:
    path = tmp_path / "bots.txt"
    path.write_text("Acme-Checker  # ours\n198.51.100.7\n\n# nothing\n2001:db8::/32\n.*(\n")
    bots = open_bot_detector(str(path))

    assert bots.is_known_user_agent("ACME-checker/2")
    assert bots.is_known_user_agent("googlebot")
    assert bots.is_known_user_agent("x .*( y")
    assert not bots.is_known_user_agent("anything")
    assert bots.is_known_ip("198.51.100.7")
    assert bots.is_known_ip("2001:db8::1")
    assert not bots.is_known_ip("198.51.100.8")
    assert open_bot_detector(str(tmp_path / "gone.txt")).is_known_ip("66.249.64.1")

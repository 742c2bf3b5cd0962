"""Detects known bots by user agent and address: ``known_bots.txt`` and the operator's list.

A list has one entry per line: an address, a CIDR range, or a case-insensitive part of the user
agent. ``#`` starts a comment.
"""

# re2 ships no complete types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import ipaddress
from functools import lru_cache
from importlib.resources import files
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path

import re2

_OWN = "known_bots.txt"
_CACHED = 4096  # cached results per list; each entry is small


class BotDetector:
    """The bots of one or more lists.

    Args:
        text: the lists, one after the other.
    """

    def __init__(self, text: str) -> None:
        agents, self._ranges = _read(text)
        # An automaton: as fast for hundreds of names as for one.
        pattern = "|".join(re2.escape(name) for name in agents)
        self._agents = re2.compile(pattern) if agents else None
        self.knows_agent = lru_cache(maxsize=_CACHED)(self._knows_agent)
        self.knows_ip = lru_cache(maxsize=_CACHED)(self._knows_ip)

    def is_known_user_agent(self, agent: object = None) -> bool:
        """Whether a user agent contains the name of a known bot."""
        return isinstance(agent, str) and self.knows_agent(agent)

    def is_known_ip(self, ip: object = None) -> bool:
        """Whether an address belongs to a known bot; False for anything that is not an address."""
        return isinstance(ip, str) and self.knows_ip(ip)

    def _knows_agent(self, agent: str) -> bool:
        return self._agents is not None and self._agents.search(agent.lower()) is not None

    def _knows_ip(self, ip: str) -> bool:
        try:
            address = ipaddress.ip_address(ip.strip())
        except ValueError:
            return False
        if address.version == 6 and address.ipv4_mapped:
            address = address.ipv4_mapped
        bits, number = address.max_prefixlen, int(address)
        return any(
            number >> (bits - length) in known
            for length, known in self._ranges.get(address.version, {}).items()
        )


@lru_cache(maxsize=4)
def open_bot_detector(path: str | None) -> BotDetector:
    """The built-in list, plus the operator's if there is one; parsed once per process."""
    own = files("hoglet.functions.runtime").joinpath(_OWN).read_text("utf-8")
    return BotDetector(own if path is None else f"{own}\n{_text_of(path)}")


def _text_of(path: str) -> str:
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""  # reported at server startup; must not fail for events


def _read(text: str) -> tuple[list[str], dict[int, dict[int, set[int]]]]:
    """User agents in lower case, and ranges as ``{version: {prefix length: {leading bits}}}``."""
    agents: list[str] = []
    ranges: dict[int, dict[int, set[int]]] = {}
    for line in text.splitlines():
        entry = line.partition("#")[0].strip()
        network = _network(entry)
        if network is not None:
            leading = int(network.network_address) >> (network.max_prefixlen - network.prefixlen)
            of_version = ranges.setdefault(network.version, {})
            of_version.setdefault(network.prefixlen, set()).add(leading)
        elif entry:
            agents.append(entry.lower())
    return agents, ranges


def _network(entry: str) -> IPv4Network | IPv6Network | None:
    try:
        return ipaddress.ip_network(entry, strict=False)
    except ValueError:
        return None

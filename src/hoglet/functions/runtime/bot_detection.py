"""Well-known bots, by user agent and by address: ``known_bots.txt``, and a list of the operator's.

A list has one entry a line: an address or a CIDR range, or else a piece of the user agent, whatever
its case. ``#`` begins a comment.
"""

import ipaddress
from functools import lru_cache
from importlib.resources import files
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path

import re2

_OWN = "known_bots.txt"
_CACHED = 4096  # different agents and addresses of one list; each entry is small


class BotDetector:
    """The bots of one list or several.

    Args:
        text: the lists, one after the other.
    """

    def __init__(self, text: str) -> None:
        agents, self._ranges = _read(text)
        # One automaton: as fast for hundreds of names as for one.
        pattern = "|".join(re2.escape(name) for name in agents)
        self._agents = re2.compile(pattern) if agents else None
        self.knows_agent = lru_cache(maxsize=_CACHED)(self._knows_agent)
        self.knows_ip = lru_cache(maxsize=_CACHED)(self._knows_ip)

    def is_known_user_agent(self, agent: object = None) -> bool:
        """Whether a user agent contains the name of a known bot."""
        return isinstance(agent, str) and self.knows_agent(agent)

    def is_known_ip(self, ip: object = None) -> bool:
        """Whether an address belongs to a known bot; False for anything that is no address."""
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
    """Our own list, with the operator's when there is one; read once in each process."""
    own = files("hoglet.functions.runtime").joinpath(_OWN).read_text("utf-8")
    return BotDetector(own if path is None else f"{own}\n{_text_of(path)}")


def _text_of(path: str) -> str:
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""  # told at the start of the server; events must not fail for it


def _read(text: str) -> tuple[list[str], dict[int, dict[int, set[int]]]]:
    """Agents in lower case, and ranges as ``{version: {prefix length: {leading bits}}}``."""
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

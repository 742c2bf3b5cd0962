"""Targets of requests: URLs, and the guard that decides which addresses functions may reach.

URLs are parsed according to the WHATWG URL standard, as in browsers and Node. The client and all
checks of a URL (the guard, the hosts of an integration, limits per host) must agree on its host, so
all of them use :func:`parse_url`. As in the standard, ``%2F``, ``%7E``, ``%c3`` and ``%zz`` are
sent as written. Functions may reach public addresses and those that the operator allows.

Source: docs/spec/hog-functions.md#133-functions (SSRF guard); https://url.spec.whatwg.org; IANA
special-purpose address registries, as known to the standard library's ``ipaddress``, plus the
additions below.
"""

import base64
import ipaddress
import re
import socket
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

import ada_url

from hoglet.kit.json import replace_surrogates

type Address = IPv4Address | IPv6Address
type Network = IPv4Network | IPv6Network

URL_CHARACTERS = 16_384
_PORTS = {"http": 80, "https": 443}
_NAT64 = IPv6Network("64:ff9b::/96")  # the last 32 bits are an IPv4 address
_REFUSED: tuple[Network, ...] = (
    IPv6Network("2002::/16"),  # 6to4: embeds any IPv4 address
    IPv6Network("2001::/32"),  # Teredo, as above
    IPv6Network("64:ff9b:1::/48"),  # NAT64 for local use
    IPv6Network("3fff::/20"),  # documentation (RFC 9637); unknown to older standard libraries
    IPv6Network("5f00::/16"),  # segment routing (RFC 9602), as above
    IPv4Network("192.88.99.0/24"),  # 6to4 relays
    IPv4Network("192.0.0.0/24"),  # protocol assignments; Python before 3.12.4 knows only some
    IPv4Network("168.63.129.16/32"),  # Azure's metadata: a public address, answered by the host
)
# After IDNA encoding; resolvers disagree about anything else.
_HOST = re.compile(r"(?=.{1,253}\.?$)(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?")


class InvalidUrl(ValueError):
    """The text is not an http or https URL."""


class Target(NamedTuple):
    """The target of a request.

    Attributes:
        scheme: ``http`` or ``https``.
        host: lower-case ASCII; an IPv6 address has no brackets.
        port: the port; the scheme's default if the URL has none.
        origin_form: path and query as sent, ``/a%2Fb?c=d``.
        userinfo: ``user:password``, decoded; empty if there is none.
    """

    scheme: str
    host: str
    port: int
    origin_form: str
    userinfo: bytes = b""

    @property
    def authority(self) -> str:
        """Host and port, as in ``Host``: ``example.com``, ``[::1]:8080``."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def basic_authorization(self) -> str | None:
        """The ``Authorization`` header for the user and password in the URL."""
        if not self.userinfo:
            return None
        return f"Basic {base64.b64encode(self.userinfo).decode()}"


@lru_cache(512)  # most requests go to the same few URLs, each parsed twice
def parse_url(text: str) -> Target:
    """Parse the URL of a request.

    Raises:
        InvalidUrl: it is malformed, too long, or not http or https.

    Example:
        >>> parse_url("HTTP://Example.COM:80/a%2Fb/../c?x=%7E#top")
        Target(scheme='http', host='example.com', port=80, origin_form='/c?x=%7E', userinfo=b'')
    """
    if len(text) > URL_CHARACTERS:
        raise InvalidUrl(f"the URL is longer than {URL_CHARACTERS} characters")
    try:
        url = ada_url.URL(replace_surrogates(text))
    except ValueError:
        raise InvalidUrl("the URL is malformed; it must be http://… or https://…") from None
    scheme = url.protocol.rstrip(":")
    if scheme not in _PORTS or not url.hostname:
        raise InvalidUrl("only http:// and https:// URLs are supported")
    return Target(
        scheme=scheme,
        host=url.hostname.strip("[]"),
        port=int(url.port or _PORTS[scheme]),
        origin_form=url.pathname + _query(url),
        userinfo=_userinfo(url.username, url.password),
    )


def _query(url: ada_url.URL) -> str:
    """The query including ``?``, even if empty: signatures cover it."""
    before_fragment = url.href.partition("#")[0]
    return url.search or ("?" if before_fragment.endswith("?") else "")


def _userinfo(username: str, password: str) -> bytes:
    if not username and not password:
        return b""
    return unquote_to_bytes(username) + b":" + unquote_to_bytes(password)


class AllowList:
    """The private targets that the operator allows.

    Args:
        entries: host names, addresses and CIDRs, e.g. ``["crm.internal", "10.1.0.0/16"]``.
            Addresses are compared after resolution, so ``127.0.0.1`` also permits ``localhost``.

    Raises:
        ValueError: an entry is none of these.
    """

    def __init__(self, entries: Iterable[str] = ()) -> None:
        self._names: set[str] = set()
        self._networks: list[Network] = []
        for entry in filter(None, map(str.strip, entries)):
            target = private_target(entry)
            if isinstance(target, str):
                self._names.add(target)
            else:
                self._networks.append(target)

    def permits_name(self, host: str) -> bool:
        """Whether all addresses of this host name are allowed."""
        return normalize_host(host) in self._names

    def permits(self, address: Address) -> bool:
        """Whether the address is public or allowed."""
        inner = unmap_ipv4(address)
        if any(inner in network or address in network for network in self._networks):
            return True
        return is_public(inner)


def is_public(address: Address) -> bool:
    """Whether the address is publicly reachable.

    Example:
        >>> is_public(IPv4Address("169.254.169.254")), is_public(IPv4Address("1.1.1.1"))
        (False, True)
    """
    address = unmap_ipv4(address)
    if any(address in network for network in _REFUSED):
        return False
    site_local = isinstance(address, IPv6Address) and address.is_site_local
    special = address.is_multicast or address.is_reserved or address.is_unspecified
    return address.is_global and not special and not site_local


def unmap_ipv4(address: Address) -> Address:
    """The IPv4 address that an IPv6 address embeds, else the address itself.

    Example:
        >>> unmap_ipv4(IPv6Address("::ffff:127.0.0.1"))
        IPv4Address('127.0.0.1')
    """
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address


def parse_ip_literal(host: str) -> Address | None:
    """The IP address that a host literal denotes, in any notation that system resolvers accept.

    Example:
        >>> [str(parse_ip_literal(host)) for host in ("127.1", "0x7f.1", "2130706433", "::1")]
        ['127.0.0.1', '127.0.0.1', '127.0.0.1', '::1']
        >>> parse_ip_literal("example.com") is None
        True
    """
    host = host.strip("[]").rstrip(".")
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    if not host or not host[0].isdigit() or " " in host:
        return None
    try:
        return IPv4Address(socket.inet_aton(host))
    except (OSError, UnicodeError):
        return None


def is_host_name(host: str) -> bool:
    """Whether the host of a parsed URL is a name that can be resolved."""
    return _HOST.fullmatch(host) is not None


def normalize_host(host: str) -> str:
    """A host name for comparison: lower case, without the trailing dot."""
    return host.lower().rstrip(".")


def private_target(entry: str) -> Network | str:
    """Parse an entry of the allow list: a network, or a host name normalized as in URLs.

    Raises:
        ValueError: the entry has a port, a wildcard or other parts, so it would never match.

    Example:
        >>> private_target("10.1.2.3/16"), private_target("127.1"), private_target("Bücher.lan.")
        (IPv4Network('10.1.0.0/16'), IPv4Network('127.0.0.1/32'), 'xn--bcher-kva.lan')
    """
    network = _network(entry)
    if network is not None:
        return network
    if "/" in entry:
        raise ValueError(f"{entry} is not an address range such as 10.1.0.0/16")
    try:
        host = parse_url(f"http://{entry}/").host
    except InvalidUrl:
        host = ""
    if set(entry) & set(":@?#\\") or not is_host_name(host):
        raise ValueError(
            f"{entry} is not a host name, an address or a range; ports and wildcards are not used"
        )
    return _network(host) or normalize_host(host)


def _network(entry: str) -> Network | None:
    try:
        return ipaddress.ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        return None

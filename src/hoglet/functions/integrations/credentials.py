"""Injects integration tokens into outbound requests.

Tokens are read and decrypted per request, so changes apply at once and no process caches tokens.
"""

from collections.abc import Sequence

from hoglet.functions.integrations import repository
from hoglet.functions.integrations.placeholders import (
    Tokens,
    fill,
    hide,
    placeholders_in,
)
from hoglet.functions.secrets.box import SecretBox, SecretsUnreadable
from hoglet.functions.tables import IntegrationRow
from hoglet.outbound.addresses import normalize_host
from hoglet.outbound.client import Outbound
from hoglet.outbound.port import OutboundRequest, OutboundResult, RequestRefused
from hoglet.outbound.url import InvalidUrl, parse_url
from hoglet.store.database import Database

_REFUSAL = "CredentialRefused"


class Credentials:
    """Sends requests with the tokens of a project's integrations.

    Args:
        outbound: the HTTP client, behind the guard.
        database: stores integrations.
        box: decrypts tokens.
    """

    def __init__(self, outbound: Outbound, database: Database, box: SecretBox) -> None:
        self._outbound = outbound
        self._database = database
        self._box = box

    async def fetch(self, project_id: int, request: OutboundRequest) -> OutboundResult:
        """Make one attempt for a function of the project.

        Returns:
            Like ``Outbound.fetch``; also ``RequestRefused`` if an integration was deleted, cannot
            be decrypted, or is not allowed for this host. Tokens in the response become
            placeholders.
        """
        wanted = placeholders_in(request)
        if not wanted:
            return await self._outbound.fetch(request)
        async with self._database.read() as session:
            rows = await repository.by_placeholders(session, project_id, wanted)
        tokens = self._tokens(rows, wanted, request)
        if isinstance(tokens, RequestRefused):
            return tokens
        return hide(await self._outbound.fetch(fill(request, tokens)), tokens)

    def _tokens(
        self, rows: Sequence[IntegrationRow], wanted: set[str], request: OutboundRequest
    ) -> Tokens | RequestRefused:
        if len(rows) < len(wanted):
            return RequestRefused(_REFUSAL, "the integration of this token was deleted")
        tokens: dict[str, str] = {}
        for row in rows:
            if not may_go_to(request.url, row.hosts):
                return RequestRefused(
                    _REFUSAL, f"the token of integration {row.id} is not allowed for this host"
                )
            try:
                tokens[row.placeholder] = self._box.open(row.secrets)["access_token"]
            except SecretsUnreadable:
                return RequestRefused(
                    _REFUSAL, f"the token of integration {row.id} was encrypted with a lost key"
                )
        return tokens


def may_go_to(url: str, hosts: list[str] | None) -> bool:
    """Whether a URL's host is among ``hosts``; None allows all.

    Example:
        >>> may_go_to("https://api.slack.com/x", ["*.slack.com"]), may_go_to("https://a", [])
        (True, False)
    """
    if hosts is None:
        return True
    try:
        target = parse_url(url)
    except InvalidUrl:
        return False  # the client rejects it too
    host = normalize_host(target.host)
    return any(_fits(normalize_host(entry), host, target.port) for entry in hosts)


def _fits(entry: str, host: str, port: int) -> bool:
    if entry.startswith("*."):
        return host.endswith(entry[1:])
    return entry in (host, f"{host}:{port}")

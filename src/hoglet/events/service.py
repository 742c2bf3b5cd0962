"""Capture: authenticates a batch, validates it and makes it durable."""

import asyncio
from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from hoglet.access.principals import Project
from hoglet.events import decode as wire
from hoglet.events import parse as incoming
from hoglet.events.errors import InvalidApiKey, MissingApiKey
from hoglet.events.parse import Batch
from hoglet.events.spool import Spool, SpooledV1
from hoglet.events.warnings import IngestionWarnings
from hoglet.kit import tracing
from hoglet.kit.clock import Clock
from hoglet.kit.errors import Invalid

DEFAULT_BODY_BYTES = 20 * 1024 * 1024
_PARSED_AT_ONCE = 1024 * 1024  # longer bodies are parsed in a thread, so as not to block others


class ProjectTokens(Protocol):
    """Finds projects by their public token; implementations should cache them."""

    async def project_by_token(self, token: str) -> Project | None:
        """The project of a token, or None."""
        ...


class CaptureRequest(msgspec.Struct, frozen=True):
    """One HTTP request to a capture route; ``content_encoding`` and ``ip`` may be empty."""

    body: bytes
    query: Mapping[str, str]
    content_encoding: str
    ip: str


class CaptureService:
    """Accepts batches (docs/spec/hog-functions.md#14-capture)."""

    def __init__(
        self,
        *,
        tokens: ProjectTokens,
        spool: Spool,
        warnings: IngestionWarnings,
        clock: Clock,
        body_limit_bytes: int = DEFAULT_BODY_BYTES,
    ) -> None:
        self._tokens = tokens
        self._spool = spool
        self._warnings = warnings
        self._clock = clock
        self.body_limit_bytes = body_limit_bytes

    async def capture(self, request: CaptureRequest) -> None:
        """Make a batch durable; returns when it is on disk.

        Raises:
            Invalid: the body has no valid event (400).
            Unauthenticated: no token, or an unknown one (401).
            TooLarge: over the body limit, compressed or decompressed (413).
            SpoolUnavailable: storage is not writable (503).
        """
        received_at = self._clock.now()
        body = await self._read(request)
        batch = incoming.batch_of(body.value, request.query)
        project = await self._project_of(body.value, request.query)
        refused = _refusals(batch)
        if len(refused) == len(batch.events):
            raise refused[0]
        if body.too_deep:
            refused += [wire.deep_event_refusal()] * body.too_deep
        if refused:
            self._warnings.note_refusals(project.id, refused)
        spooled = SpooledV1(
            project_id=project.id,
            received_at=received_at,
            ip=None if project.anonymize_ips or not request.ip else request.ip,
            body=body.text,
            sent_at=batch.sent_at,
            trace=tracing.parent_header(),
        )
        await self._spool.append(spooled, batch.events)

    async def _read(self, request: CaptureRequest) -> wire.ParsedBody:
        text = wire.unpack(
            request.body,
            query=request.query,
            content_encoding=request.content_encoding,
            limit_bytes=self.body_limit_bytes,
        )
        if len(text) <= _PARSED_AT_ONCE:
            return wire.parse(text)
        return await asyncio.to_thread(wire.parse, text)

    async def _project_of(self, body: Any, query: Mapping[str, str]) -> Project:
        token = incoming.token_of(body, query)
        if token is None:
            raise MissingApiKey("No project token: send `api_key`, or `?token=`.")
        project = await self._tokens.project_by_token(token)
        if project is None:
            raise InvalidApiKey("The project token is not valid.")
        return project


def _refusals(batch: Batch) -> list[Invalid]:
    refusals = (incoming.refusal_of(raw) for raw in batch.events)
    return [refusal for refusal in refusals if refusal is not None]

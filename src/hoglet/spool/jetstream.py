"""The spool log on NATS JetStream: one stream, one subject per partition.

A position is the sequence number of the message in the stream: it grows in each partition, with
gaps. An entry is one message, on disk (``sync_interval: always``) or on the majority of the
replicas when NATS acknowledges it.

Source: docs/adr/0038-jetstream.md.
"""

import asyncio
import contextlib
import time
from collections.abc import Collection, Coroutine, Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

import msgspec
import nats.errors
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import Header, StreamConfig, StreamInfo, StreamState
from nats.js.errors import APIError, NotFoundError

from hoglet.spool.address import NatsAddress
from hoglet.spool.nats_connection import PATIENCE_SECONDS, NatsConnection
from hoglet.spool.nats_publishing import StreamMessage, StreamNotReady
from hoglet.spool.nats_stream import (
    DeletedLog,
    SpoolRefused,
    StreamFacts,
    StreamNames,
    check_stream,
    facts_of,
    used_share,
    why_unsuitable,
)
from hoglet.spool.port import SpoolEntry, SpoolUnavailable
from hoglet.spool.wakeups import Wakeups

_MAX_MESSAGES = 1000  # per read
_AGAIN_SECONDS = 0.1
# A server that only appends reads the stream's settings this often, and waits for them that long.
_SETTINGS_SECONDS = 1.0

log = structlog.get_logger()


class JetStreamLog:
    """See :class:`hoglet.spool.port.SpoolLog`; created by :func:`open_jetstream`."""

    def __init__(self, address: NatsAddress) -> None:
        self._address = address
        self._names = StreamNames(address.stream)
        self.facts = StreamFacts("", address.replicas)
        self.losses = 0
        self._owner: str | None = None
        self._unsuitable: str | None = None  # since somebody changed the stream's settings
        self._settings_read_at = 0.0
        self._payload_bytes = 0
        self._highest = 0  # of all positions that were seen
        self._lowest = 0  # of the stream's messages, when its state was last read
        self._connection = NatsConnection(address, self._listen)
        self._wakeups = Wakeups()
        self._empty: dict[int, tuple[int, int]] = {}
        """Partitions without entries behind a position, when the stream ended at another."""
        self._last_of: dict[int, int] = {}
        self._last_as_of: tuple[int, int, int] | None = None
        """The last positions of partitions, and the state of the stream that had them."""

    async def append(self, batches: Mapping[int, Sequence[bytes]]) -> dict[int, int]:
        """Return once NATS has acknowledged all payloads; see the port.

        If the connection breaks, it retries for a few seconds with the same message ids.
        """
        await self._look_at_settings()
        if self._unsuitable is not None:
            raise SpoolUnavailable(f"{self._unsuitable}: change it back.")
        call = uuid4().hex
        entries = [(each, payload) for each in sorted(batches) for payload in batches[each]]
        messages = [
            StreamMessage(self._names.subject(partition), payload, f"{call}-{number}")
            for number, (partition, payload) in enumerate(entries)
        ]
        last: dict[int, int] = {}
        for (partition, _), position in zip(entries, await self._published(messages), strict=True):
            if position <= last.get(partition, 0):
                raise SpoolUnavailable("NATS took the entries in another order.")
            last[partition] = position
        self._highest = max(self._highest, *last.values())
        self._wakeups.wake(last)
        await self._tell_others(last)
        return last

    async def _published(self, messages: Sequence[StreamMessage]) -> list[int]:
        """Publish with retries until the timeout; returns the sequence numbers."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            connected = await self._connection.ready(deadline - time.monotonic())
            left = deadline - time.monotonic()
            try:
                return await self._connection.answer(connected.publisher.publish(messages), left)
            except (ConnectionError, StreamNotReady) as error:
                if time.monotonic() + _AGAIN_SECONDS >= deadline:
                    raise self._connection.unavailable(error) from error
                if isinstance(error, StreamNotReady):
                    await self._restore(connected.client)
            except (OSError, nats.errors.Error, msgspec.DecodeError) as error:
                raise self._connection.unavailable(error) from error
            await asyncio.sleep(_AGAIN_SECONDS)  # a starting broker is still reading its files

    async def read(self, after: Mapping[int, int], limit_bytes: int) -> dict[int, list[SpoolEntry]]:
        """The entries behind these positions; see the port."""
        # First the state of the stream: of new entries, one could not tell whether others were
        # purged before them.
        newest = await self._newest()
        entries: dict[int, list[SpoolEntry]] = {}
        left = limit_bytes
        for partition, position in after.items():
            if self._empty.get(partition) == (position, newest):
                continue
            own = await self._read(partition, position, left)
            if not own:
                self._empty[partition] = position, newest
            left -= sum(len(entry.payload) for entry in own)
            if left < 0 and entries:  # NATS always returns one
                break
            if own:
                entries[partition] = own
            if left <= 0:
                break
        return entries

    async def _newest(self) -> int:
        """The highest position of all partitions: while it stays, nothing was appended."""
        state = await self._state()
        return state.last_seq if state else 0

    async def _state(self) -> StreamState | None:
        """The state of the stream; None if it was missing."""
        info = await self._info()
        return info.state if info else None

    async def _info(self) -> StreamInfo | None:
        client, stream, _ = await self._connection.ready()
        info = await self._requested(stream.stream_info(self._names.stream))
        if info is None:
            await self._restore(client)
            return None
        self._accept(facts_of(info))
        self._note_settings(info.config)
        self._highest = max(self._highest, info.state.last_seq)
        self._lowest = info.state.first_seq
        return info

    async def _restore(self, client: Client) -> None:
        """Create the stream again if it was deleted; does nothing while JetStream starts.

        Raises:
            SpoolUnavailable: it was replaced by a stream that does not continue this log.
        """
        deleted = DeletedLog(self.facts.identity, self._highest)
        with contextlib.suppress(SpoolRefused, OSError, nats.errors.Error):
            facts = await check_stream(
                client,
                self._address,
                payload_bytes=self._payload_bytes,
                owner=self._owner,
                deleted=deleted,
            )
            self._accept(facts)

    def _accept(self, facts: StreamFacts) -> None:
        """Note whether the stream was created again since it was last seen."""
        if facts.identity != self.facts.identity:
            raise SpoolUnavailable(
                f"The NATS stream {self._names.stream} was deleted and created again by another "
                "program: restart the servers, which then store its entries."
            )
        if facts.created != self.facts.created:
            log.error("the NATS stream was deleted and created again", action="spool_created_again")
            self.losses += 1
            self._empty.clear()
        self.facts = facts

    async def _look_at_settings(self) -> None:
        """Read the stream's settings, unless something did within the last second."""
        now = time.monotonic()
        if now - self._settings_read_at <= _SETTINGS_SECONDS:
            return
        self._settings_read_at = now  # other calls do not wait for it
        with contextlib.suppress(SpoolUnavailable, TimeoutError):  # publishing has its own patience
            async with asyncio.timeout(_SETTINGS_SECONDS):
                await self._info()

    def _note_settings(self, config: StreamConfig) -> None:
        """Stop appending while the stream has settings with which it could lose entries."""
        unsuitable = why_unsuitable(config, self._address, self._owner)
        if unsuitable is not None and unsuitable != self._unsuitable:
            log.error(unsuitable, action="spool_unsuitable")
        self._unsuitable = unsuitable
        self._settings_read_at = time.monotonic()

    async def _read(self, partition: int, after: int, limit_bytes: int) -> list[SpoolEntry]:
        request = {
            "seq": after + 1,
            "next_by_subj": self._names.subject(partition),
            "batch": _MAX_MESSAGES,
            "max_bytes": max(limit_bytes, 1),
        }
        client, *_ = await self._connection.ready()
        topic = f"$JS.API.DIRECT.GET.{self._names.stream}"
        messages = await self._requested(_pages(client, topic, msgspec.json.encode(request)))
        if not messages and self.facts.replicas > 1 and await self._last(partition) > after:
            raise SpoolUnavailable("A replica of NATS is behind; the entries come later.")
        return [SpoolEntry(_number(each, "Nats-Sequence"), each.data) for each in messages or ()]

    async def trim(self, upto: Mapping[int, int]) -> None:
        """Delete the entries below these positions; the ones at them preserve the last positions.

        To NATS, 0 is no limit.
        """
        stream = (await self._connection.ready()).stream
        for partition, position in upto.items():
            if position > 1:
                name, subject = self._names.stream, self._names.subject(partition)
                await self._requested(stream.purge_stream(name, seq=position, subject=subject))

    def deleted(self, stored: Mapping[int, int]) -> set[int]:
        """Partitions whose entry was purged; those of a stream before this one do not count."""
        return {
            partition
            for partition, position in stored.items()
            if self.facts.first <= position < self._lowest
        }

    async def used_share(self) -> float:
        """The used share of the bytes or messages that the stream may have; see the port."""
        info = await self._info()
        return used_share(info) if info else 0.0

    async def last_positions(self, partitions: Collection[int]) -> dict[int, int]:
        """The highest positions ever appended, read from the stream leader.

        NATS returns messages with their payloads, so they are read only if the stream has changed.
        """
        state = await self._state()
        as_of = (self.facts.created, state.last_seq, state.messages) if state else None
        if as_of is None or as_of != self._last_as_of:
            self._last_as_of, self._last_of = as_of, {}
        last_of = self._last_of
        for partition in set(partitions) - last_of.keys():
            last_of[partition] = await self._last(partition)
        return {partition: last_of[partition] for partition in partitions}

    async def _last(self, partition: int) -> int:
        stream = (await self._connection.ready()).stream
        subject = self._names.subject(partition)
        last = await self._requested(stream.get_last_msg(self._names.stream, subject))
        return max((last and last.seq) or 0, self.facts.first - 1)

    async def wait(
        self,
        partitions: Collection[int],
        timeout: timedelta,  # noqa: ASYNC109 (a ceiling, not a cancellation)
    ) -> set[int]:
        """Wait until any server appends to one of the partitions; see the port."""
        return await self._wakeups.wait(partitions, timeout)

    def wake(self, partitions: Collection[int]) -> None:
        """End the current or next ``wait`` for one of these partitions."""
        self._wakeups.wake(partitions)

    async def check(self, *, payload_bytes: int, owner: str | None) -> None:
        """See :func:`hoglet.spool.nats_stream.check_stream`."""
        client, *_ = await self._connection.ready()
        self._owner, self._payload_bytes = owner, payload_bytes
        self.facts = await check_stream(
            client, self._address, payload_bytes=payload_bytes, owner=owner
        )

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()

    async def _listen(self, client: Client) -> None:
        await client.subscribe(self._names.wake, cb=self._woken)

    async def _woken(self, message: Msg) -> None:
        with contextlib.suppress(msgspec.DecodeError):
            self._wakeups.wake(msgspec.json.decode(message.data, type=list[int]))

    async def _tell_others(self, partitions: Collection[int]) -> None:
        """Announce new entries, best effort: servers that miss it read after their timeout."""
        with contextlib.suppress(SpoolUnavailable, OSError, nats.errors.Error):
            client, *_ = await self._connection.ready(0)
            await client.publish(self._names.wake, msgspec.json.encode(sorted(partitions)))

    async def _requested[T](self, work: Coroutine[Any, Any, T]) -> T | None:
        """The broker's response; None if it found nothing."""
        try:
            return await self._connection.answer(work, PATIENCE_SECONDS)
        except NotFoundError:
            return None
        except (OSError, TimeoutError, nats.errors.Error) as error:
            raise self._connection.unavailable(error) from error


async def _pages(client: Client, topic: str, request: bytes) -> list[Msg]:
    """The messages of a batch request, complete and in order."""
    inbox = client.new_inbox()
    messages: list[Msg] = []
    answers = await client.subscribe(inbox, pending_msgs_limit=0, pending_bytes_limit=0)
    try:
        await client.publish(topic, request, reply=inbox)
        while True:
            message = await answers.next_msg(PATIENCE_SECONDS)
            headers = message.headers or {}
            if Header.STATUS.value in headers:
                _check_end(message, messages)
                return messages
            messages.append(message)
    finally:
        with contextlib.suppress(nats.errors.Error):
            await answers.unsubscribe()


def _check_end(message: Msg, messages: Sequence[Msg]) -> None:
    """Raise if messages are missing in a response."""
    match (message.headers or {}).get(Header.STATUS.value):
        case "204":
            if not messages or _number(message, "Nats-Last-Sequence") != _number(
                messages[-1], "Nats-Sequence"
            ):
                raise nats.errors.Error("the answer is not complete")
        case "404":
            raise NotFoundError
        case "503":
            raise StreamNotReady("no stream answers")
        case _:
            APIError.from_msg(message)


def _number(message: Msg, header: str) -> int:
    return int((message.headers or {}).get(header, 0))


async def open_jetstream(
    address: NatsAddress, *, payload_bytes: int, owner: str | None = None
) -> JetStreamLog:
    """Connect, create the stream if it is missing, and check it.

    Args:
        address: addresses of the servers, and the stream.
        payload_bytes: size of the largest entry that will be appended.
        owner: name of the database that the spool belongs to; None leaves it unclaimed.

    Raises:
        SpoolUnavailable: NATS is unreachable or rejects the credentials.
        SpoolRefused: the server or the stream is unsuitable for a spool.
    """
    opened = JetStreamLog(address)
    try:
        await opened.check(payload_bytes=payload_bytes, owner=owner)
    except BaseException:
        await opened.close()
        raise
    return opened

"""The spool's stream: created at the first start, checked at later ones.

Source: docs/adr/0038-jetstream.md.
"""

import msgspec
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError
from nats.js import JetStreamContext
from nats.js.api import DiscardPolicy, RetentionPolicy, StorageType, StreamConfig, StreamInfo
from nats.js.errors import APIError, NotFoundError, ServiceUnavailableError

from hoglet.kit.errors import HogletError
from hoglet.spool.address import NatsAddress

# The first version that can return several messages in one read.
MIN_VERSION = (2, 11)
_DUPLICATE_SECONDS = 120
_OWNER = "hoglet-database"
_LOG = "hoglet-log"
_NAME_IN_USE = 10058
# Positions of a stream that was deleted are below the next but one multiple.
_POSITIONS_PER_STREAM = 1_000_000_000


class SpoolRefused(HogletError):
    """The broker or its stream is unsuitable for the spool; the message says what to change."""

    code = "spool_refused"
    blame = "operator"


class StreamNames(msgspec.Struct, frozen=True):
    """The names of a spool's stream and subjects."""

    stream: str

    def subject(self, partition: int | str) -> str:
        """The subject of a partition's entries."""
        return f"{self.stream}.spool.{partition}"

    @property
    def wake(self) -> str:
        """The subject on which servers announce new entries."""
        return f"{self.stream}.wake"


class StreamFacts(msgspec.Struct, frozen=True):
    """What is known about a stream that is suitable for the spool.

    Args:
        identity: at most 20 characters; the name of the log. It stays when a running server
            creates the stream again, and changes when it is created in any other way.
        replicas: copies of each message.
        created: microseconds since 1970; changes whenever the stream is created again.
        first: the first position that an entry can have.
    """

    identity: str
    replicas: int
    created: int = 0
    first: int = 1


class DeletedLog(msgspec.Struct, frozen=True):
    """A log whose stream was deleted: its identity, and the highest position known of it."""

    identity: str
    highest: int


async def check_stream(
    client: Client,
    address: NatsAddress,
    *,
    payload_bytes: int,
    owner: str | None,
    deleted: DeletedLog | None = None,
) -> StreamFacts:
    """Create the stream if it is missing, and check that it never drops entries.

    Args:
        client: a connected client.
        address: names the stream.
        payload_bytes: size of the largest entry that will be appended.
        owner: name of the database that the spool belongs to; None leaves it unclaimed.
        deleted: the log that the stream continues if it is missing: its new entries get positions
            that are above all of its old ones.

    Raises:
        SpoolRefused: the stream is unsuitable; the message says why.
    """
    _check_server(client, address, payload_bytes)
    context = client.jetstream()
    try:
        info = await _stream(context, address, owner, deleted)
    except NatsError as error:
        raise _refusal(address, error) from None
    reason = why_unsuitable(info.config, address, owner)
    if reason is not None:
        raise SpoolRefused(
            f"{reason}: change it, or name another one in the path of HOGLET_SPOOL_URL."
        )
    return facts_of(info)


def _refusal(address: NatsAddress, error: NatsError) -> SpoolRefused:
    if isinstance(error, NoRespondersError | ServiceUnavailableError):
        return SpoolRefused(
            f"NATS at {address.public} has no JetStream for this user: start it with JetStream "
            "and a storage folder (docs/growing.md)."
        )
    return SpoolRefused(
        f"NATS at {address.public} refuses the stream {address.stream} ({_reason(error)}): "
        "check the user's rights, the storage and the number of servers."
    )


def facts_of(info: StreamInfo) -> StreamFacts:
    """What NATS answers about the stream."""
    created = int(info.created.timestamp() * 1_000_000) if info.created else 0
    config = info.config
    identity = (config.metadata or {}).get(_LOG, f"nats:{created:014x}")
    return StreamFacts(identity, config.num_replicas or 1, created, config.first_seq or 1)


def used_share(info: StreamInfo) -> float:
    """The used share of the bytes or messages that the stream may have; 0 without a limit."""
    uses = [
        (info.state.bytes, info.config.max_bytes),
        (info.state.messages, info.config.max_msgs),
    ]
    return max(used / limit if limit and limit > 0 else 0.0 for used, limit in uses)


def _check_server(client: Client, address: NatsAddress, payload_bytes: int) -> None:
    version = client.connected_server_version
    if (version.major, version.minor) < MIN_VERSION:
        required = ".".join(map(str, MIN_VERSION))
        raise SpoolRefused(
            f"NATS at {address.public} is version {version.major}.{version.minor}, but the spool "
            f"needs {required} or later: update it."
        )
    if client.max_payload < payload_bytes:
        raise SpoolRefused(
            f"NATS at {address.public} takes messages of up to {client.max_payload} bytes, but an "
            f"accepted request can have {payload_bytes}: set max_payload: 32MB in its "
            "configuration, or lower HOGLET_REQUEST_BODY_BYTES."
        )


async def _stream(
    context: JetStreamContext, address: NatsAddress, owner: str | None, deleted: DeletedLog | None
) -> StreamInfo:
    try:
        existing = await context.stream_info(address.stream)
    except NotFoundError:
        try:
            return await context.add_stream(_desired_config(address, owner, deleted))
        except APIError as error:
            if error.err_code != _NAME_IN_USE:
                raise
            existing = await context.stream_info(address.stream)  # another server was faster
    return await _completed(context, existing, address, owner)


async def _completed(
    context: JetStreamContext, existing: StreamInfo, address: NatsAddress, owner: str | None
) -> StreamInfo:
    """Claim a stream without an owner, and raise its replicas to those of the address."""
    config = existing.config
    metadata, replicas = config.metadata or {}, config.num_replicas or 1
    is_owned = owner is None or _OWNER in metadata
    if is_owned and replicas >= address.replicas:
        return existing
    if not is_owned:
        config.metadata = {**metadata, _OWNER: owner or ""}
    config.num_replicas = max(replicas, address.replicas)
    return await context.update_stream(config)


def _desired_config(
    address: NatsAddress, owner: str | None, deleted: DeletedLog | None
) -> StreamConfig:
    """The desired configuration: a full stream rejects new entries instead of dropping old ones."""
    metadata = {_OWNER: owner} if owner else {}
    first = None
    if deleted is not None:
        metadata[_LOG] = deleted.identity
        first = (deleted.highest // _POSITIONS_PER_STREAM + 2) * _POSITIONS_PER_STREAM
    return StreamConfig(
        name=address.stream,
        description="Accepted requests that hoglet has not stored yet",
        subjects=[StreamNames(address.stream).subject("*")],
        retention=RetentionPolicy.LIMITS,
        storage=StorageType.FILE,
        discard=DiscardPolicy.NEW,
        duplicate_window=_DUPLICATE_SECONDS,
        num_replicas=address.replicas,
        allow_direct=True,
        metadata=metadata,
        first_seq=first,
    )


def why_unsuitable(config: StreamConfig, address: NatsAddress, owner: str | None) -> str | None:
    """Why the stream could lose or hide entries; None if it cannot.

    "The NATS stream hoglet cannot be the spool, because it keeps messages in memory".
    """
    subjects = StreamNames(address.stream).subject("*")
    bounds = {config.max_bytes or -1, config.max_msgs or -1}
    is_forgetful = (config.max_msgs_per_subject or -1) != -1 or bool(config.max_age)
    is_full_refusing = bounds == {-1} or config.discard == DiscardPolicy.NEW
    owned_by = (config.metadata or {}).get(_OWNER, owner)
    checks = [
        (owner in {None, owned_by}, "it is the spool of another database"),
        (config.subjects == [subjects], f"its subjects are not {subjects}"),
        (config.storage == StorageType.FILE, "it keeps messages in memory"),
        (config.retention == RetentionPolicy.LIMITS, "it discards messages that were read"),
        (not is_forgetful, "it discards messages by age or number"),
        (is_full_refusing, "it discards the oldest messages when it is full"),
        (bool(config.allow_direct), "it does not allow direct reads (allow_direct)"),
        (not config.no_ack, "it does not acknowledge messages"),
        (not config.sealed, "it is sealed"),
    ]
    fault = next((fault for is_fine, fault in checks if not is_fine), None)
    return fault and f"The NATS stream {address.stream} cannot be the spool, because {fault}"


def _reason(error: NatsError) -> str:
    return str(getattr(error, "description", None) or error).strip().rstrip(".")

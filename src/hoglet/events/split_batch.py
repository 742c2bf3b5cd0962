"""Splits the text of a spooled batch without building its values. Pure.

An event that is too large to be parsed under a memory limit must not affect other events, so events
stay text here: splitting 20 MB takes 20 MB, not thirty times that.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

_SHARED_KEYS = ("historical_migration",)  # `sent_at` is stored next to the body, see `SpooledV1`


def halve_batch(body: bytes) -> tuple[bytes, bytes, int] | None:
    """Two batches of half the events each, in order.

    Args:
        body: JSON text that :func:`hoglet.events.parse.batch_of` reads.

    Returns:
        The two bodies and the number of events in the first; None for a batch of one event.

    Example:
        >>> halve_batch(b'{"batch": [1, 2, 3], "historical_migration": true}')
        (b'{"historical_migration":true,"batch":[1]}', b'{"historical_migration":true,"batch":[2,3]}', 1)
    """  # noqa: E501 (the example is one value)
    events, head = _parts_of(body)
    if len(events) < 2:
        return None
    middle = len(events) // 2
    return _batch(head, events[:middle]), _batch(head, events[middle:]), middle


def split_batch[K](body: bytes, keys: Sequence[K | None]) -> dict[K, bytes]:
    """A batch for each key, with the events of that key, in order.

    Args:
        body: JSON text that :func:`hoglet.events.parse.batch_of` reads.
        keys: one for each event; events with None are left out.

    Example:
        >>> split_batch(b'[1, 2, 3, 4]', ["a", "b", None, "a"])
        {'a': b'{"batch":[1,4]}', 'b': b'{"batch":[2]}'}
    """
    events, head = _parts_of(body)
    parts: dict[K, list[msgspec.Raw]] = {}
    for key, event in zip(keys, events, strict=True):
        if key is not None:
            parts.setdefault(key, []).append(event)
    return {key: _batch(head, part) for key, part in parts.items()}


def _parts_of(body: bytes) -> tuple[list[msgspec.Raw], dict[str, msgspec.Raw]]:
    """The texts of the events, and of the fields of the batch."""
    if body.lstrip()[:1] == b"[":
        return msgspec.json.decode(body, type=list[msgspec.Raw]), {}
    top = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    if "batch" not in top:
        return [msgspec.Raw(body)], {}
    events = msgspec.json.decode(top["batch"], type=list[msgspec.Raw])
    return events, {key: top[key] for key in _SHARED_KEYS if key in top}


def _batch(head: dict[str, msgspec.Raw], events: list[msgspec.Raw]) -> bytes:
    whole: dict[str, Any] = {**head, "batch": events}
    return msgspec.json.encode(whole)

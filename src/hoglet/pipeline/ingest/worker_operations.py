"""Operations of the pipeline's worker process.

The worker caches the functions of a few projects and the groups that it has parsed, see
:mod:`hoglet.pipeline.ingest.ipc`.
"""

from collections import OrderedDict

import msgspec

from hoglet.kit.json import pack
from hoglet.pipeline.ingest.internal_matching import match_internal
from hoglet.pipeline.ingest.ipc import (
    CacheMiss,
    InternalRequest,
    encoder,
    process_requests,
    read_requests,
)
from hoglet.pipeline.ingest.parse import (
    FunctionSet,
    ParsedBatch,
    lookups_needed,
    parse_batch,
)
from hoglet.pipeline.ingest.process import process_batch

_KEPT_PROJECTS = 50
_KEPT_GROUPS = 3  # the current one and those parsed ahead; more would only take memory

_internal_requests = msgspec.msgpack.Decoder(InternalRequest)
_functions: OrderedDict[int, FunctionSet] = OrderedDict()
_groups: OrderedDict[str, dict[int, ParsedBatch]] = OrderedDict()
"""Parsed parts of groups by project."""


def read(payload: bytes) -> bytes:
    """``ReadRequest`` → ``LookupRequest`` or ``CacheMiss``."""
    request = read_requests.decode(payload)
    if request.functions is not None:
        received = FunctionSet(request.functions_key, request.project, request.functions)
        _keep(_functions, request.project.id, received, _KEPT_PROJECTS)
    functions = _functions.get(request.project.id)
    if functions is None or functions.key != request.functions_key:
        return pack(encoder, CacheMiss("functions"))
    functions.project = request.project
    batch = parse_batch(request, functions)
    parsed = {**_groups.get(str(request.group), {}), request.project.id: batch}
    _keep(_groups, str(request.group), parsed, _KEPT_GROUPS)
    return pack(encoder, lookups_needed(batch))


def process(payload: bytes) -> bytes:
    """``ProcessRequest`` → ``BatchResult`` or ``CacheMiss``."""
    request = process_requests.decode(payload)
    parsed = _groups.get(str(request.group), {})
    batch = parsed.pop(request.project_id, None)
    if not parsed:
        _groups.pop(str(request.group), None)
    if batch is None:
        return pack(encoder, CacheMiss("group"))
    return pack(encoder, process_batch(batch, request))


def match_internal_event(payload: bytes) -> bytes:
    """``InternalRequest`` → ``BatchResult``."""
    return pack(encoder, match_internal(_internal_requests.decode(payload)))


def _keep[K, V](memory: OrderedDict[K, V], key: K, value: V, limit: int) -> None:
    memory[key] = value
    memory.move_to_end(key)
    while len(memory) > limit:
        memory.popitem(last=False)

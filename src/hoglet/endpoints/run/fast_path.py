"""Fast path for repeated identical runs served from the result cache.

A validated request and the key of its result depend only on the version, the body and the query
string, so they are cached by these, together with the encoded response around the rows, except for
the execution id. A cached run then takes two look-ups and joins bytes. The rows stay in the result
cache, which bounds them.

Measured on the machine of benchmarks/README.md: 4 times as many cached runs per second.
"""

from dataclasses import dataclass, replace
from uuid import UUID
from weakref import ref

from hoglet.access.principals import ProjectScope
from hoglet.endpoints.encoding.csv_ndjson import etag_of
from hoglet.endpoints.run.cache import Result
from hoglet.endpoints.run.plan import ReadPlan
from hoglet.endpoints.run.response_body import BODY_START
from hoglet.endpoints.run.result import RunResult
from hoglet.endpoints.run.runner import EndpointRunner
from hoglet.endpoints.run.targets import RunTarget
from hoglet.endpoints.schemas import RunRequest
from hoglet.kit.cache import BoundedCache
from hoglet.kit.ids import new_id
from hoglet.warehouse import JsonParts

type QuickKey = tuple[int, str, str, bytes, str, bytes, bytes]

REMEMBERED = 5_000
LARGEST_BODY_BYTES = 2_000
_HOLE = UUID(int=0)
_HOLE_TEXT = str(_HOLE).encode()


@dataclass(slots=True)
class _Known:
    """A known request; ``body`` is the response after the rows, around the execution id."""

    current: RunTarget
    request: RunRequest
    reading: ReadPlan
    result: "ref[Result] | None" = None
    body: tuple[bytes, bytes] = (b"", b"")
    etag: str = ""


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """A complete 200 body with its ETag and result."""

    body: bytes
    etag: str
    target: RunTarget
    result: Result


class CachedResponseFastPath:
    """Responds to known requests from the cache.

    Concurrency: for one event loop.
    """

    def __init__(self, runner: EndpointRunner) -> None:
        self._runner = runner
        self._known = BoundedCache[QuickKey, _Known](REMEMBERED)

    def answer(
        self, key: QuickKey, scope: ProjectScope, current: RunTarget
    ) -> CachedResponse | None:
        """The response of a cached run; None for the regular path.

        Args:
            key: project, name, method, query string, content type, body, and the fingerprint of the
                variables that a tenant token fixes.
            scope: the caller and project, for the log.
            current: the current version of the endpoint.
        """
        known = self._known.get(key)
        if known is None or known.current is not current:
            return None
        result = self._runner.fresh(known.reading, known.request.refresh)
        if result is None:
            return None
        if known.result is None or known.result() is not result:
            known.body = _split(known, result, scope.project.timezone)
            known.etag = etag_of(known.reading.target, result)
            known.result = ref(result)
        execution_id = new_id()
        self._runner.note_hit(scope.user_id, known.reading, known.request, result, execution_id)
        before, after = known.body
        start, rows = BODY_START, result.rows_json
        body = b"".join((start, rows, before, str(execution_id).encode(), after))
        return CachedResponse(body, known.etag, known.reading.target, result)

    def remember(
        self, key: QuickKey, current: RunTarget, request: RunRequest, reading: ReadPlan
    ) -> None:
        """Remember a request that passed all checks, unless it has overrides or a cursor."""
        single = request.filters_override is not None or request.query_override is not None
        if single or request.cursor is not None or len(key[5]) > LARGEST_BODY_BYTES:
            return
        self._known.put(key, _Known(current, request, reading))


def _split(known: _Known, result: Result, timezone: str) -> tuple[bytes, bytes]:
    empty = replace(result, parts=JsonParts((b"",)))
    body = RunResult(
        known.reading.target, empty, _HOLE, timezone, is_cached=True, request=known.request
    ).body()
    before, _, after = body.removeprefix(BODY_START).rpartition(_HOLE_TEXT)
    return before, after

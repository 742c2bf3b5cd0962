"""The short way of runs that are asked again and again and answered from the result cache.

What a request means (its wish, checked, and the key of its result) depends on nothing but the
version, the body and the query string, so it is remembered with them; and what stands around the
rows of its answer is kept encoded, with a hole for the execution id. A cached run then costs two
look-ups and a join of bytes. The rows themselves stay in the cache alone, which bounds them.

Measured on the machine of benchmarks/README.md: 4 times as many cached runs a second.
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

type QuickKey = tuple[int, str, str, bytes, str, bytes]

REMEMBERED = 5_000
LARGEST_BODY_BYTES = 2_000
_HOLE = UUID(int=0)
_HOLE_TEXT = str(_HOLE).encode()


@dataclass(slots=True)
class _Known:
    """A request that was seen; ``body`` is its answer behind the rows, around the execution id."""

    current: RunTarget
    wish: RunRequest
    reading: ReadPlan
    result: "ref[Result] | None" = None
    body: tuple[bytes, bytes] = (b"", b"")
    etag: str = ""


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """A whole 200 body with its ETag, and what it is the answer of."""

    body: bytes
    etag: str
    target: RunTarget
    result: Result


class CachedResponseFastPath:
    """Answers known requests from the cache.

    Concurrency: for one event loop.
    """

    def __init__(self, runner: EndpointRunner) -> None:
        self._runner = runner
        self._known = BoundedCache[QuickKey, _Known](REMEMBERED)

    def answer(
        self, key: QuickKey, scope: ProjectScope, current: RunTarget
    ) -> CachedResponse | None:
        """A cached run's answer; None: go the long way.

        Args:
            key: project, name, method, query string, content type, body.
            scope: whose run it is, for the log.
            current: the newest version of the endpoint as it is known now.
        """
        known = self._known.get(key)
        if known is None or known.current is not current:
            return None
        result = self._runner.fresh(known.reading, known.wish.refresh)
        if result is None:
            return None
        if known.result is None or known.result() is not result:
            known.body = _split(known, result, scope.project.timezone)
            known.etag = etag_of(known.reading.target, result)
            known.result = ref(result)
        execution_id = new_id()
        self._runner.note_hit(scope.user_id, known.reading, known.wish, result, execution_id)
        before, after = known.body
        start, rows = BODY_START, result.rows_json
        body = b"".join((start, rows, before, str(execution_id).encode(), after))
        return CachedResponse(body, known.etag, known.reading.target, result)

    def remember(
        self, key: QuickKey, current: RunTarget, wish: RunRequest, reading: ReadPlan
    ) -> None:
        """Know a request that passed every check; not those with overrides or cursors."""
        single = wish.filters_override is not None or wish.query_override is not None
        if single or wish.cursor is not None or len(key[5]) > LARGEST_BODY_BYTES:
            return
        self._known.put(key, _Known(current, wish, reading))


def _split(known: _Known, result: Result, timezone: str) -> tuple[bytes, bytes]:
    empty = replace(result, parts=(b"",))
    body = RunResult(
        known.reading.target, empty, _HOLE, timezone, is_cached=True, wish=known.wish
    ).body()
    before, _, after = body.removeprefix(BODY_START).rpartition(_HOLE_TEXT)
    return before, after

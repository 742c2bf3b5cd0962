"""Settings of endpoints; values come from the composition root."""

import os
from collections.abc import Sequence

import msgspec

from hoglet.access.rate_limit import RateLimit

MEGABYTE = 1024 * 1024
NO_LIMIT = RateLimit()
MAX_RUN_SECONDS = 60


class EndpointSettings(msgspec.Struct, frozen=True):
    """The settings of endpoints (docs/spec/query-endpoints.md#6-errors-keys-limits).

    Args:
        site_url: public URL of hoglet; None: from the request.
        concurrent_queries: concurrent queries on raw data; None: twice the cores.
        concurrent_materialized: concurrent reads of materialized tables.
        queue_seconds: how long a run waits for a slot.
        run_seconds: time limit of a run in the engine, at most 60.
        background_seconds: time limit of a background run or a build.
        cache_bytes: memory for cached results.
        result_bytes: limit of ``results`` of a run, as JSON.
        runs: rate limit of runs per key; all secret keys of a project share a bucket.
        materialized_runs: the same for runs of ready materialized versions.
        secret_keys: Fernet keys that encrypt cursors, newest first.
        is_sharded: whether the warehouse is a cluster.
    """

    site_url: str | None = None
    concurrent_queries: int | None = None
    concurrent_materialized: int = 10
    queue_seconds: float = 30
    run_seconds: float = 10
    background_seconds: float = 300
    cache_bytes: int = 64 * MEGABYTE
    result_bytes: int = 128 * MEGABYTE
    runs: RateLimit = NO_LIMIT
    materialized_runs: RateLimit = NO_LIMIT
    secret_keys: Sequence[str] = ()
    is_sharded: bool = False

    @property
    def capped_run_seconds(self) -> float:
        """``run_seconds``, but at most a minute."""
        return min(self.run_seconds, MAX_RUN_SECONDS)

    @property
    def query_slots(self) -> int:
        """Concurrent queries on raw data."""
        return self.concurrent_queries or 2 * (os.cpu_count() or 2)

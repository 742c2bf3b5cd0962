"""What an operator may set for endpoints; values come from the composition root."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from hoglet.access.rate_limit import RateLimit

MEGABYTE = 1024 * 1024
NO_LIMIT = RateLimit()
LONGEST_RUN_SECONDS = 60


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """The settings of endpoints (docs/spec/query-endpoints.md#6-errors-keys-limits).

    Args:
        site_url: address users reach hoglet at; None: what the request says.
        concurrent_queries: queries on raw data at once; None: twice the cores.
        concurrent_materialized: reads of materialized tables at once.
        queue_seconds: how long a run waits for a slot before it is refused.
        run_seconds: what a run with a key may take in the engine, at most 60.
        background_seconds: what a background run or a build may take.
        cache_bytes: memory for results.
        result_bytes: the largest ``results`` of a run, as JSON.
        runs: allowance of each key for runs; all secret keys of a project share one.
        materialized_runs: the same for runs of a ready materialized version.
        secret_keys: Fernet keys that seal cursors, newest first.
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

    @property
    def capped_run_seconds(self) -> float:
        """``run_seconds``, but never more than a minute."""
        return min(self.run_seconds, LONGEST_RUN_SECONDS)

    @property
    def query_slots(self) -> int:
        """Queries on raw data at once."""
        return self.concurrent_queries or 2 * (os.cpu_count() or 2)

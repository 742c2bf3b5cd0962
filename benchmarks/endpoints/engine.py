"""The bare engine: the same SQL by a bare client, in a separate process on the same folder."""

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.endpoints.dataset import QUERIES, TEXT, compiled
from benchmarks.endpoints.timing import Times, loop


def bare_queries(
    folder: str, clients: Sequence[int], seconds: float
) -> dict[tuple[str, int], Times]:
    """Times of every query by name and number of clients; ``text`` is the query without types."""
    import clickhouse_connect

    address = f"chdb://{folder}/warehouse"
    keep = clickhouse_connect.get_client(dsn=address)  # the engine stays while clients come and go
    queries = {name: compiled(query) for name, query in QUERIES.items()} | {"text": (TEXT, {})}

    def asking(sql: str, params: dict[str, Any], threads: int) -> Callable[[], Callable[[], Any]]:
        def make() -> Callable[[], Any]:
            client = clickhouse_connect.get_client(dsn=address)
            client.command(f"SET max_threads = {threads}")
            return lambda: client.query(sql, parameters=params).result_rows

        return make

    times = {}
    for name, (sql, params) in queries.items():
        for count in clients if name != "text" else (1,):
            threads = 2 if count == 1 else 1  # as hoglet does: one thread each under load
            times[name, count] = loop(asking(sql, params, threads), count, seconds)
    keep.close()
    return times


def same_rows(folder: str) -> bool:
    """Whether the query on the JSON text has the same result as the one on the typed column."""
    import clickhouse_connect

    client = clickhouse_connect.get_client(dsn=f"chdb://{folder}/warehouse")
    sql, params = compiled(QUERIES["property"])
    typed = client.query(sql, parameters=params).result_rows
    return list(map(tuple, typed)) == list(map(tuple, client.query(TEXT).result_rows))

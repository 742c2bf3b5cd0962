"""The queries of the endpoint benchmark compile; a benchmark is run too rarely to notice."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_queries_of_the_endpoint_benchmark_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.endpoints.dataset import QUERIES, compiled

    texts = [compiled(query)[0] for query in QUERIES.values()]

    assert all(text.startswith("SELECT") for text in texts)
    assert not any("JSONExtract" in text for text in texts)  # typed reads, as on a server

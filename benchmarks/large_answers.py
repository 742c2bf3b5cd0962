"""Memory of the server while four clients each fetch a separately computed result of 131 MB.

The resident memory is the peak since the clients began (``VmHWM``, reset before); ``idle`` is the
value before. Every client checks the length and hash of its body. The engine holds ``sorted``
results before it returns their first row.

Run: ``.venv/bin/python -m benchmarks.large_answers [--clients 4]``
"""

import argparse
import hashlib
import json
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from benchmarks.endpoints.http_calls import BASE, Client
from benchmarks.endpoints.runs import create

from support.server import RunningServer

ROWS = 50_000
TEXT = "concat(toString(number), repeat('x', 2595))"
QUERIES = {
    "plain": f"SELECT number AS n, {TEXT} AS t FROM numbers(50001) LIMIT {ROWS}",
    "sorted": f"SELECT number AS n, {TEXT} AS t FROM numbers(50001) ORDER BY t LIMIT {ROWS}",
}


def fetch(port: int, name: str, encoding: str) -> tuple[int, str]:
    """Length of the body as sent, and the hash of its rows (of an uncompressed body)."""
    client = Client(port)
    connection, headers = client.connection, client.headers | {"Accept-Encoding": encoding}
    body = json.dumps({"refresh": "force_blocking"})
    connection.request("POST", f"{BASE}/{name}/run", body, headers)
    response = connection.getresponse()
    if response.status != 200:
        raise RuntimeError(response.read()[:300])
    size, digest, held = 0, hashlib.sha256(), b""
    while part := response.read(1 << 16):
        size += len(part)
        held += part
        digest.update(held[:-10_000])  # what follows the rows is shorter
        held = held[-10_000:]
    rows_end = held.find(b'"]],"') + 3 if encoding == "identity" else 0
    digest.update(held[:rows_end])
    connection.close()
    return size, digest.hexdigest()


def memory_mb(process: int, field: str) -> float:
    """A figure of ``/proc/PID/status``."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    raise KeyError(field)


def measure(folder: Path, name: str, clients: int, encoding: str) -> dict[str, float]:
    server = RunningServer(folder).start()
    try:
        assert server.process is not None
        process = server.process.pid
        create(server.port, name, {"kind": "HogQLQuery", "query": QUERIES[name]})
        time.sleep(1)
        Path(f"/proc/{process}/clear_refs").write_text("5")
        idle, began = memory_mb(process, "VmRSS"), time.perf_counter()
        with ThreadPoolExecutor(clients) as pool:
            answers = list(pool.map(lambda _: fetch(server.port, name, encoding), range(clients)))
        seconds = time.perf_counter() - began
        peak = memory_mb(process, "VmHWM")
    finally:
        server.stop()
    if encoding == "identity" and {answer[1] for answer in answers} != {sha(name)}:
        raise RuntimeError("the rows differ")
    return {
        "body_mb": round(answers[0][0] / 1e6, 1),
        "idle_mb": round(idle),
        "peak_mb": round(peak),
        "seconds": round(seconds, 1),
    }


def sha(name: str) -> str:
    """The expected hash of the rows."""
    digest = hashlib.sha256(b'{"results":')
    rows = [[number, f"{number}{'x' * 2595}"] for number in range(ROWS + 1)]
    if name == "sorted":
        rows.sort(key=lambda row: row[1])
    for number, row in enumerate(rows[:ROWS]):
        digest.update(b"," if number else b"[")
        digest.update(json.dumps(row, separators=(", ", ": ")).encode())
    digest.update(b"]")
    return digest.hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=4)
    options = parser.parse_args()
    figures: dict[str, dict[str, float]] = {}
    for name, encoding in (("plain", "identity"), ("sorted", "identity"), ("plain", "zstd")):
        folder = Path(tempfile.mkdtemp(prefix="hoglet-large-"))
        try:
            figures[f"{name}, {encoding}"] = measure(folder, name, options.clients, encoding)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps({"clients": options.clients, **figures}, indent=2))


if __name__ == "__main__":
    main()

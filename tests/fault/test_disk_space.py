"""A disk that fills up during an insert of the embedded engine, which does not report it."""

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import os, resource, signal, sys
from pathlib import Path

import clickhouse_connect

from hoglet.warehouse.disk_space import DiskChecks
from hoglet.warehouse.errors import WarehouseDown

folder = Path(sys.argv[1])
disk = DiskChecks(folder)
disk.prepare()
client = clickhouse_connect.get_client(dsn=f"chdb://{folder}")
CREATE = "CREATE TABLE t (n UInt8, s String) ENGINE = MergeTree ORDER BY n PARTITION BY n % 2"
TOKEN = "SETTINGS insert_deduplication_token = '{0}'"
INSERT = f"INSERT INTO t {TOKEN} SELECT number, randomString(30000) FROM numbers({{0}}, 4)"

def insert(start):
    client.command(INSERT.format(start))

def limit_files(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

def refused(work):
    try:
        with disk.insert(client, "t"):
            work()
    except WarehouseDown:
        return
    raise AssertionError("not refused")

def fill_and_insert():
    limit_files(20_000)  # bytes: enough for all files but a part's data
    insert(4)

def fill_insert_and_fail():
    fill_and_insert()
    raise OSError("the engine noticed the second file")

client.command(CREATE + " SETTINGS non_replicated_deduplication_window = 100")
with disk.insert(client, "t"):
    insert(0)
client.command("ALTER TABLE t DELETE WHERE n = 3 SETTINGS mutations_sync = 2")
refused(fill_and_insert)
limit_files(resource.RLIM_INFINITY)
refused(fill_insert_and_fail)
refused(lambda: insert(4))  # still full: not tried
if "kill" in sys.argv:
    os.kill(os.getpid(), signal.SIGKILL)
limit_files(resource.RLIM_INFINITY)
for start in (4, 4, 8):
    with disk.insert(client, "t"):
        insert(start)
"""


AGAIN = (
    PROGRAM.partition("client.command(CREATE")[0]
    + """
for start in (4, 4, 8):
    with disk.insert(client, "t"):
        insert(start)
print(client.query("SELECT arraySort(groupArray(n)) FROM t").result_rows[0][0])
print(client.query("SELECT count() FROM system.detached_parts").result_rows[0][0])
"""
)


def test_an_insert_while_the_disk_fills_up_is_repeated_whole(tmp_path: Path) -> None:
    def run(program: str) -> str:
        command = [sys.executable, "-c", program, str(tmp_path / "warehouse")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    run(PROGRAM)

    read = "import sys, chdb.session as s; q = s.Session(sys.argv[1]).query; print({})"
    rows = run(read.format("q('SELECT arraySort(groupArray(n)) FROM t')"))
    assert rows == '"[0,1,2,4,5,6,7,8,9,10,11]"'
    assert run(read.format("q('SELECT count() FROM system.detached_parts')")) == "0"


def test_a_server_killed_after_an_insert_on_a_full_disk_repeats_it(tmp_path: Path) -> None:
    def run(program: str, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", program, str(tmp_path / "warehouse"), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    killed = run(PROGRAM, "kill")
    assert killed.returncode == -9, killed.stderr

    for _ in range(2):
        done = run(AGAIN)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-2:] == ["[0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11]", "0"]

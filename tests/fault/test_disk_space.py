"""A disk that fills up during an insert of the embedded engine, which does not report it."""

import subprocess
import sys
from pathlib import Path

import pytest

from hoglet.warehouse.disk_space import DoubtfulParts
from support.seeds import thinned

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


BEGUN = (
    PROGRAM.partition("refused(fill_and_insert)")[0]
    + """
begun = disk.insert(client, "t")
begun.__enter__()
how = sys.argv[2]
if how == "before":
    limit_files(20_000)
    insert(4)
    limit_files(resource.RLIM_INFINITY)
elif how == "whole":
    insert(4)
elif how == "merged":
    insert(4)
    client.command("OPTIMIZE TABLE t FINAL SETTINGS mutations_sync = 2")
elif how == "mutated":  # rewrites both parts
    insert(4)
    client.command("ALTER TABLE t DELETE WHERE n = 99 SETTINGS mutations_sync = 2")
elif how == "recorded":  # where a kill leaves a part before the engine renames it
    insert(4)
    [[table]] = client.query("SELECT data_paths[1] FROM system.tables WHERE name = 't'").result_rows
    for part in Path(table).glob("[01]_[34]_[34]_0"):
        part.rename(part.with_name(f"tmp_insert_{part.name}"))
os.kill(os.getpid(), signal.SIGKILL)
"""
)


@pytest.mark.parametrize("how", thinned(["recorded", "before", "whole", "merged", "mutated"], 2))
def test_an_insert_that_a_kill_interrupts_is_stored_once(tmp_path: Path, how: str) -> None:
    def run(program: str, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", program, str(tmp_path / "warehouse"), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    begun = run(BEGUN, how)
    assert begun.returncode == -9, begun.stderr

    done = run(AGAIN)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == ["[0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11]", "0"]


def test_an_insert_from_before_a_power_failure_is_left_to_the_engine(tmp_path: Path) -> None:
    table = tmp_path / "store" / "t"
    (table / "all_7_7_0").mkdir(parents=True)
    parts = DoubtfulParts(tmp_path)
    parts.write({}, {table: 6})
    file = tmp_path / "hoglet_doubtful_parts.json"
    file.write_bytes(file.read_bytes().replace(boot_id(), b"of another boot"))

    parts.drop_left()

    assert (table / "all_7_7_0").exists()


def test_tokens_without_a_part_are_dropped_after_a_power_failure(tmp_path: Path) -> None:
    """The part whose rows are on disk keeps its token: it is not stored twice."""
    table = tmp_path / "store" / "abc" / "t"
    (table / "all_7_7_0").mkdir(parents=True)
    log = table / "deduplication_logs" / "deduplication_log_1.txt"
    log.parent.mkdir()
    log.write_text("1\tall_7_7_0\ta\n1\tall_8_8_0\tb\n")
    DoubtfulParts(tmp_path).reserve()
    file = tmp_path / "hoglet_doubtful_parts.json"
    file.write_bytes(file.read_bytes().replace(boot_id(), b"of another boot"))

    for _ in range(2):
        DoubtfulParts(tmp_path).drop_left()

    assert log.read_text() == "1\tall_7_7_0\ta\n1\tall_8_8_0\tb\n2\tall_8_8_0\tb\n"


def boot_id() -> bytes:
    return Path("/proc/sys/kernel/random/boot_id").read_bytes().strip()


@pytest.mark.parametrize(
    ("block", "names", "left"),
    [
        (6, ["all_7_7_0", "all_6_6_0"], ["all_6_6_0"]),
        (6, ["all_7_7_0", "all_8_8_0"], []),
        (6, ["all_7_7_0", "all_1_7_2"], ["all_1_7_2", "all_7_7_0"]),
        (6, ["all_7_7_0", "all_7_7_0_9"], ["all_7_7_0", "all_7_7_0_9"]),
        (6, ["a_7_7_0", "b_1_7_2"], ["b_1_7_2"]),
        (0, ["all_1_1_0", "tmp_insert_all_2_2_0"], ["tmp_insert_all_2_2_0"]),
        (None, ["all_1_1_0"], ["all_1_1_0"]),
    ],
)
def test_parts_of_an_interrupted_insert_are_known_by_their_blocks(
    tmp_path: Path, block: int | None, names: list[str], left: list[str]
) -> None:
    table = tmp_path / "store" / "t"
    for name in names:
        (table / name).mkdir(parents=True)
    parts = DoubtfulParts(tmp_path)
    parts.write({}, {} if block is None else {table: block})

    for _ in range(2):
        parts.drop_left()

    assert sorted(each.name for each in table.iterdir()) == left


def test_tokens_of_parts_that_are_not_in_place_are_dropped(tmp_path: Path) -> None:
    """Those before the insert, of merged parts and of dropped ones have no effect any more."""
    table = tmp_path / "store" / "t"
    (table / "all_1_7_1").mkdir(parents=True)
    log = table / "deduplication_logs" / "deduplication_log_1.txt"
    log.parent.mkdir()
    before = "1\tall_5_5_0\ta\n1\tall_7_7_0\tb\n1\tall_8_8_0\tc\n2\tall_8_8_0\tc\n"
    log.write_text(f"{before}1\tall_9_9_0\td\n")
    parts = DoubtfulParts(tmp_path)
    parts.write({}, {table: 6})

    parts.drop_left()

    assert log.read_text() == f"{before}1\tall_9_9_0\td\n2\tall_9_9_0\td\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "garbage",
        "[]",
        '{"parts": {"../..": ["all_1_1_0"], "\\u0000": ["all_1_1_0"], "/etc": ["a_1_1_0"]}}',
        '{"store/t": ["all_1_1_0"]}',
        '{"parts": {"store/t": ["../t/all_1_1_0", "detached"]}}',
    ],
)
def test_a_damaged_note_drops_nothing(tmp_path: Path, text: str) -> None:
    part = tmp_path / "store" / "t" / "all_1_1_0"
    part.mkdir(parents=True)
    (tmp_path / "hoglet_doubtful_parts.json").write_text(text)

    DoubtfulParts(tmp_path).drop_left()

    assert part.exists()


FILLING = """
import os, resource, signal, sys
from pathlib import Path

import clickhouse_connect
from hoglet.warehouse import InsertSelect
from hoglet.warehouse.disk_space import DiskChecks
from hoglet.warehouse.errors import WarehouseDown
from hoglet.warehouse.insert_select import insert_whole

folder, how = Path(sys.argv[1]), sys.argv[2]
disk = DiskChecks(folder)
disk.prepare()
client = clickhouse_connect.get_client(dsn=f"chdb://{folder}")

class Filling:
    # The disk fills up while the rows are written; "killed": and then the server is killed.
    def command(self, sql, **options):
        if not sql.startswith("INSERT"):
            return client.command(sql, **options)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
        client.command(sql, **options)
        if how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
    def __getattr__(self, name):
        return getattr(client, name)

rows = "SELECT number % 4, randomString(30000) FROM numbers({count:UInt64})"
client.command("CREATE TABLE t (n UInt8, s String) ENGINE = MergeTree ORDER BY n")
insert = InsertSelect("t", ["n", "s"], rows, {"count": 4})
insert_whole(client, disk, insert)
try:
    insert_whole(Filling(), disk, insert)
except WarehouseDown:
    pass
else:
    raise AssertionError("not refused")
assert client.query("SELECT count() FROM t").result_rows == [(4,)]
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
insert_whole(client, disk, insert)
"""
FILLED = """
import asyncio, sys
from hoglet.warehouse import open_warehouse

async def main():
    warehouse = await open_warehouse(f"chdb://{sys.argv[1]}")
    print((await warehouse.query("SELECT count(), sum(length(s)) FROM t")).rows)
    scratch = "SELECT name FROM system.tables WHERE name LIKE '%scratch%'"
    print((await warehouse.query(scratch)).rows)
    await warehouse.close()

asyncio.run(main())
"""


@pytest.mark.parametrize(("how", "code", "rows"), [("refused", 0, 8), ("killed", -9, 4)])
def test_a_table_filled_on_a_full_disk_gets_all_rows_or_none(
    tmp_path: Path, how: str, code: int, rows: int
) -> None:
    def run(program: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", program, str(tmp_path / "warehouse"), how]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    filling = run(FILLING)
    assert filling.returncode == code, filling.stderr

    opened = run(FILLED)  # refused if parts are broken
    assert opened.returncode == 0, opened.stderr
    assert opened.stdout.splitlines()[-2:] == [f"[({rows}, {rows * 30000})]", "[]"]

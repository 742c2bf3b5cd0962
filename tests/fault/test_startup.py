"""Startup failures: exit status 2 and one sentence that says what to change."""

import os
import re
import resource
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from support.faults import Start
from support.server import TOKEN, RunningServer, free_port

pytestmark = pytest.mark.slow

IPV6 = pytest.mark.skipif(
    not socket.has_ipv6 or not Path("/proc/net/if_inet6").exists(), reason="there is no IPv6 here"
)
SECRET_FUNCTION = {
    "type": "destination",
    "hog": "print(1)",
    "inputs_schema": [{"key": "token", "type": "string", "secret": True}],
    "inputs": {"token": {"value": "t"}},
}


@pytest.fixture(scope="module")
def used_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with an event and a secret, whose server was stopped."""
    server = RunningServer(tmp_path_factory.mktemp("used") / "data").start()
    response = server.client.post("/api/projects/1/hog_functions/", json=SECRET_FUNCTION)
    assert response.status_code == 201, response.text
    event = {"api_key": TOKEN, "event": "first", "distinct_id": "ada"}
    assert server.client.post("/e/", json=event).status_code == 200
    for _ in range(600):
        if server.client.get("/api/projects/1/").json()["ingested_event"]:
            break
    assert server.stop() == 0
    return server.data_dir


@pytest.fixture
def start(used_folder: Path, tmp_path: Path) -> Generator[Start]:
    folder = tmp_path / "data"
    shutil.copytree(used_folder, folder, symlinks=True)
    (folder / "server.log").unlink()
    yield Start(folder)
    for path in [folder, *folder.rglob("*")] if folder.is_dir() else []:
        if path.is_dir():
            path.chmod(0o700)


def refused(start: Start) -> str:
    """The sentence of a start that must fail."""
    ended = start.run()
    assert ended.returncode == 2, ended.stdout + ended.stderr
    assert "Traceback" not in ended.stderr
    lines = ended.stderr.splitlines()
    assert len(lines) == 1, ended.stderr
    assert re.fullmatch(r"[A-Z/h-].{30,}[.?]", lines[0]), lines[0]
    assert "serves at" not in ended.stdout
    return lines[0]


def key_missing(start: Start) -> None:
    (start.folder / "secret.key").unlink()


def key_empty(start: Start) -> None:
    (start.folder / "secret.key").write_text("\n")


def key_damaged(start: Start) -> None:
    (start.folder / "secret.key").write_text("not a key\n")


def key_binary(start: Start) -> None:
    (start.folder / "secret.key").write_bytes(b"\xff\xfe\x00")


def key_unreadable(start: Start) -> None:
    (start.folder / "secret.key").chmod(0)
    start.as_plain_user()


def key_folder(start: Start) -> None:
    (start.folder / "secret.key").unlink()
    (start.folder / "secret.key").mkdir()


def key_of_another(start: Start) -> None:
    (start.folder / "secret.key").write_bytes(Fernet.generate_key())


def keys_of_another(start: Start) -> None:
    start.environment["SECRET_KEYS"] = Fernet.generate_key().decode()


def folder_is_file(start: Start) -> None:
    file = start.folder.parent / "file"
    file.touch()
    start.environment["DATA_DIR"] = str(file)


def folder_below_file(start: Start) -> None:
    file = start.folder.parent / "file"
    file.touch()
    start.environment["DATA_DIR"] = str(file / "data")


def folder_read_only(start: Start) -> None:
    start.folder.chmod(0o500)
    start.as_plain_user()


def folder_cannot_be_made(start: Start) -> None:
    start.folder.chmod(0o500)
    start.environment["DATA_DIR"] = str(start.folder / "new")
    start.as_plain_user()


def database_read_only(start: Start) -> None:
    (start.folder / "hoglet.db").chmod(0o400)
    start.as_plain_user()


def database_garbage(start: Start) -> None:
    (start.folder / "hoglet.db").write_bytes(b"x" * 8192)


def database_truncated(start: Start) -> None:
    file = start.folder / "hoglet.db"
    file.write_bytes(file.read_bytes()[:50_000])


def database_overwritten(start: Start) -> None:
    file = start.folder / "hoglet.db"
    content = bytearray(file.read_bytes())
    content[4096:] = b"\x07" * (len(content) - 4096)
    file.write_bytes(content)


def database_folder(start: Start) -> None:
    (start.folder / "hoglet.db").unlink()
    (start.folder / "hoglet.db").mkdir()


def database_newer(start: Start) -> None:
    start.sql("UPDATE alembic_version SET version_num = '9999'")


def database_foreign(start: Start) -> None:
    start.sql("DELETE FROM alembic_version")


def database_unreachable(start: Start) -> None:
    start.environment["DATABASE_URL"] = f"postgresql+psycopg://me:hunter2@127.0.0.1:{free_port()}/x"


def database_options(start: Start) -> None:
    options = "user=me&password=hunter2"
    start.environment["DATABASE_URL"] = f"postgresql+psycopg://127.0.0.1:{free_port()}/x?{options}"


def database_file_unreachable(start: Start) -> None:
    start.environment["DATABASE_URL"] = "sqlite+aiosqlite:////no/such/folder/hoglet.db"


def token_of_another(start: Start) -> None:
    start.sql(
        "INSERT INTO projects SELECT 2, x'00', organization_id, 'phc_theirs', "
        + ", ".join(_other_columns(start))
        + " FROM projects"
    )
    start.environment["BOOTSTRAP_PROJECT_TOKEN"] = "phc_theirs"


def _other_columns(start: Start) -> list[str]:
    with sqlite3.connect(start.folder / "hoglet.db") as database:
        names = [row[1] for row in database.execute("PRAGMA table_info(projects)")]
    assert names[:4] == ["id", "uuid", "organization_id", "api_token"], names
    return names[4:]


def warehouse_part_truncated(start: Start) -> None:
    parts = list((start.folder / "warehouse" / "store").rglob("20*/data.bin"))
    assert parts
    for part in parts:
        part.write_bytes(part.read_bytes()[:-7])


def warehouse_part_incomplete(start: Start) -> None:
    for file in (start.folder / "warehouse" / "store").rglob("20*/columns.txt"):
        file.unlink()


def warehouse_metadata_garbage(start: Start) -> None:
    for file in (start.folder / "warehouse" / "store").rglob("*.sql"):
        file.write_text("garbage")


def warehouse_table_gone(start: Start) -> None:
    for file in (start.folder / "warehouse" / "store").rglob("events.sql"):
        file.unlink()


def warehouse_gone(start: Start) -> None:
    shutil.rmtree(start.folder / "warehouse")


def warehouse_of_another(start: Start) -> None:
    other = Start(start.folder.parent / "other")
    with other.running():
        pass
    warehouse_gone(start)
    shutil.move(other.folder / "warehouse", start.folder / "warehouse")


def warehouse_is_file(start: Start) -> None:
    shutil.rmtree(start.folder / "warehouse")
    (start.folder / "warehouse").write_text("x")


def warehouse_read_only(start: Start) -> None:
    (start.folder / "warehouse").chmod(0o500)
    start.as_plain_user()


def warehouse_newer(start: Start) -> None:
    start.warehouse_sql("INSERT INTO hoglet_ddl (number, name) VALUES (9999, 'x')")


def warehouse_unreachable(start: Start) -> None:
    start.environment["WAREHOUSE_URL"] = f"clickhouse://me:hunter2@127.0.0.1:{free_port()}/x"


def few_descriptors(start: Start) -> None:
    start.limit(resource.RLIMIT_NOFILE, 64)


def small_files(start: Start) -> None:
    start.environment["DATA_DIR"] = str(start.folder.parent / "new")
    start.limit(resource.RLIMIT_FSIZE, 40_000)


def address_elsewhere(start: Start) -> None:
    start.environment["HOST"] = "203.0.113.7"


def address_unknown(start: Start) -> None:
    start.environment["HOST"] = "no-such-host.invalid"


def address_has_port(start: Start) -> None:
    start.environment["HOST"] = "127.0.0.1:8000"


def port_out_of_range(start: Start) -> None:
    start.words = ["--port", "65536"]


def bot_list_binary(start: Start) -> None:
    (start.folder / "bots").write_bytes(b"\xff\xfe")
    start.environment["BOT_LIST"] = str(start.folder / "bots")


def certificates_garbage(start: Start) -> None:
    (start.folder / "ca.pem").write_text("-----BEGIN NOTHING-----")
    start.environment |= {"SMTP_HOST": "localhost", "SMTP_CA_FILE": str(start.folder / "ca.pem")}


# Similar to other faults; a start costs two seconds of processor time.
ALIKE = {
    bot_list_binary,
    certificates_garbage,
    key_empty,
    key_binary,
    key_folder,
    folder_below_file,
    folder_cannot_be_made,
    database_folder,
    database_overwritten,
    database_foreign,
    database_options,
    database_file_unreachable,
    warehouse_part_incomplete,
    warehouse_read_only,
    address_has_port,
    keys_of_another,
    warehouse_is_file,
    warehouse_of_another,
}
FAULTS: list[tuple[Callable[[Start], None], str]] = [
    (key_missing, "secret.key is missing"),
    (key_empty, "secret.key is damaged"),
    (key_damaged, "secret.key is damaged"),
    (key_binary, "secret.key is damaged"),
    (key_unreadable, "secret.key cannot be read"),
    (key_folder, "secret.key is not a regular file"),
    (key_of_another, "secret.key decrypts the 1 stored secrets"),
    (keys_of_another, "HOGLET_SECRET_KEYS decrypts the 1 stored secrets"),
    (folder_is_file, "another --data-dir"),
    (folder_below_file, "another --data-dir"),
    (folder_read_only, "cannot be written"),
    (folder_cannot_be_made, "must own the data"),
    (database_read_only, "cannot be written"),
    (database_garbage, "from a backup"),
    (database_truncated, "from a backup"),
    (database_overwritten, "from a backup"),
    (database_folder, "hoglet.db is not a regular file"),
    (database_newer, "newer version of hoglet (schema 9999)"),
    (database_foreign, "tables of another application"),
    (database_unreachable, "check HOGLET_DATABASE_URL"),
    (database_options, "check HOGLET_DATABASE_URL"),
    (database_file_unreachable, "/no/such/folder/hoglet.db"),
    (token_of_another, "HOGLET_BOOTSTRAP_PROJECT_TOKEN"),
    (warehouse_part_truncated, "parts are broken (events "),
    (warehouse_part_incomplete, "parts are broken (events "),
    (warehouse_metadata_garbage, "from a backup"),
    (warehouse_table_gone, "table events of the warehouse is missing"),
    (warehouse_gone, "is empty, but this database belongs to another"),
    (warehouse_of_another, "is not the one, but this database belongs to another"),
    (warehouse_is_file, "File exists"),
    (warehouse_read_only, "cannot be written"),
    (warehouse_newer, "newer version of hoglet (schema 9999"),
    (warehouse_unreachable, "check HOGLET_WAREHOUSE_URL"),
    (few_descriptors, "can open 64 files"),
    (small_files, "disk"),
    (bot_list_binary, "HOGLET_BOT_LIST cannot be read"),
    (certificates_garbage, "HOGLET_SMTP_CA_FILE has no certificates"),
    (address_elsewhere, "does not have the address 203.0.113.7"),
    (address_unknown, '"no-such-host.invalid"'),
    (address_has_port, '"127.0.0.1:8000"'),
    (port_out_of_range, '--port is "65536"'),
]


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        pytest.param(*fault, id=fault[0].__name__, marks=[pytest.mark.long] * (fault[0] in ALIKE))
        for fault in FAULTS
    ],
)
def test_a_fault_is_one_sentence(start: Start, damage: Callable[[Start], None], reason: str):
    damage(start)

    sentence = refused(start)

    assert reason in sentence
    assert "hunter2" not in sentence


@pytest.mark.parametrize(
    ("address", "is_shared"),
    [
        ("127.0.0.1", False),
        ("127.0.0.1", True),
        ("0.0.0.0", True),  # noqa: S104 (to listen on)
        pytest.param("::", True, marks=IPV6),  # takes IPv4 connections too
    ],
)
def test_a_used_port_is_not_shared(tmp_path: Path, address: str, is_shared: bool):
    start = Start(tmp_path / "data")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, is_shared)
        other.bind((address, 0))
        other.listen()
        port = str(other.getsockname()[1])
        start.words = ["--port", port]

        sentence = refused(start)

    assert f"Port {port} of 127.0.0.1 is in use" in sentence
    assert not start.folder.exists()


@IPV6
def test_an_ipv6_address_and_a_second_server_on_it(tmp_path: Path):
    start = Start(tmp_path / "data")
    start.environment["HOST"] = "::1"
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as other:
        port = str(other.getsockname()[1])
        start.words = ["--port", port]
        assert f"Port {port} of ::1 is in use" in refused(start)

    server = RunningServer(start.folder, port=int(port), host="::1")
    server.url = f"http://[::1]:{port}"
    server.start()
    backup = [sys.executable, "-m", "hoglet", "backup", str(tmp_path / "backup")]
    result = subprocess.run(
        backup, env=server.environment, check=False, capture_output=True, text=True
    )

    assert server.stop() == 0
    assert f"hoglet serves at http://[::1]:{port}" in server.log()
    assert result.returncode == 0, result.stderr


def test_a_port_that_needs_a_right(tmp_path: Path):
    lowest = Path("/proc/sys/net/ipv4/ip_unprivileged_port_start")
    if not lowest.exists() or int(lowest.read_text()) <= 80:
        pytest.skip("every user may listen on port 80 here")
    start = Start(tmp_path / "data")
    start.words = ["--port", "80"]
    start.as_plain_user()

    assert "CAP_NET_BIND_SERVICE" in refused(start)


def test_a_full_disk(tmp_path: Path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)],
        check=False,
        capture_output=True,
    )
    if mounted.returncode:
        pytest.skip("a file system of a given size takes the right to mount one")
    try:
        sentence = refused(Start(disk / "data"))
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)

    assert "disk space" in sentence


def test_a_start_without_the_key_changes_nothing_and_the_key_helps(start: Start):
    key_file = start.folder / "secret.key"
    key = key_file.read_text()
    key_file.unlink()
    before = database_dump(start.folder)
    refused(start)
    assert not key_file.exists()
    assert database_dump(start.folder) == before

    key_file.write_text(key)
    server = RunningServer(start.folder).start()
    assert server.stop() == 0


def test_the_key_may_come_from_the_environment(start: Start):
    key_file = start.folder / "secret.key"
    key = key_file.read_text().strip()
    key_file.unlink()

    server = RunningServer(start.folder, secret_keys=key).start()

    assert server.stop() == 0
    assert not key_file.exists()


def test_another_warehouse_can_be_adopted(start: Start):
    warehouse_gone(start)
    refused(start)

    command = [sys.executable, "-m", "hoglet", "warehouse", "adopt"]
    subprocess.run([*command, "--data-dir", str(start.folder)], check=True)

    for _ in range(2):
        server = RunningServer(start.folder).start()
        assert server.stop() == 0


def test_a_warehouse_that_was_empty_may_go(tmp_path: Path):
    server = RunningServer(tmp_path / "data").start()
    assert server.stop() == 0
    shutil.rmtree(server.data_dir / "warehouse")

    for _ in range(2):
        server.start()
        assert server.client.get("/_readyz").status_code == 200
        assert server.stop() == 0


def test_a_key_more_does_no_harm(start: Start):
    key_file = start.folder / "secret.key"
    key_file.write_text(Fernet.generate_key().decode() + "\n" + key_file.read_text())

    server = RunningServer(start.folder).start()

    assert server.stop() == 0


def test_keys_are_printed_once_and_only_by_a_server_that_listens(tmp_path: Path):
    start = Start(tmp_path / "data")
    start.environment |= {"BOOTSTRAP_PERSONAL_API_KEY": None, "BOOTSTRAP_PROJECT_TOKEN": None}
    start.environment["GEOIP_DATABASE"] = str(Path(__file__))
    assert "HOGLET_GEOIP_DATABASE" in refused(start)

    del start.environment["GEOIP_DATABASE"]
    with start.running() as printed:
        assert re.search(r"project token +phc_\S{20,}", printed)
        assert re.search(r"personal API key +phx_\S{20,}", printed)
    with start.running() as printed:
        assert "phc_" not in printed
        assert "phx_" not in printed


def test_given_keys_are_not_printed(tmp_path: Path):
    start = Start(tmp_path / "data")
    start.environment["BOOTSTRAP_PROJECT_TOKEN"] = None

    with start.running() as printed:
        assert "phc_" in printed
        assert "phx_" not in printed


def test_data_is_closed_to_other_users(start: Start):
    os.mkfifo(start.folder / "other", 0o644)  # of another user: must not be changed
    start.folder.chmod(0o755)
    for path in start.folder.iterdir():
        path.chmod(0o755 if path.is_dir() else 0o644)

    server = RunningServer(start.folder).start()
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode)
        for path in start.folder.iterdir()
        if path.name not in ("server.log", "other")
    }
    server.stop()

    assert stat.S_IMODE(start.folder.stat().st_mode) == 0o700
    assert modes.pop("warehouse") == 0o700
    assert {"hoglet.db", "hoglet.db-wal", "hoglet.db-shm", "secret.key"} <= modes.keys()
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE((start.folder / "other").stat().st_mode) == 0o644


def test_new_data_is_closed_to_other_users(tmp_path: Path):
    start = Start(tmp_path / "new" / "data")
    start.prepare.append(lambda: os.umask(0) and None)

    with start.running():
        modes = {path: stat.S_IMODE(path.stat().st_mode) for path in start.folder.rglob("*")}

    assert stat.S_IMODE(start.folder.stat().st_mode) == 0o700
    assert {path.name: oct(mode) for path, mode in modes.items() if mode & 0o077} == {}


def test_a_folder_of_others_keeps_its_mode(tmp_path: Path):
    (tmp_path / "theirs").mkdir()
    tmp_path.chmod(0o755)
    start = Start(tmp_path)

    with start.running():
        assert stat.S_IMODE((tmp_path / "hoglet.db").stat().st_mode) == 0o600
        assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def database_dump(folder: Path) -> list[str]:
    with sqlite3.connect(folder / "hoglet.db") as database:
        return list(database.iterdump())

"""Escape attempts from inside a real worker all fail."""

import os
import socket
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from hoglet.kit.errors import Bug
from hoglet.sandbox import Sandbox
from hoglet.sandbox.confinement import DESCRIPTORS, missing_walls

HERE = str(Path(__file__).parent)

pytestmark = pytest.mark.skipif(
    bool(missing_walls()), reason=f"this kernel has no {' and no '.join(missing_walls())}"
)

ON_FILES = [
    "read_file", "write_file", "append_to_file", "remove_file", "rename_file", "truncate_file",
    "open_up", "give_away", "touch", "label", "set_attributes", "link", "symlink", "make_folder",
    "set_flags", "freeze_disk", "hold_up_writers",
]  # fmt: skip
ON_THE_SYSTEM = [
    "make_anonymous_file", "open_pair", "run_program", "replace_program", "fork", "signal_parent",
    "trace_parent", "take_descriptor_of_parent", "become_other", "leave_namespaces", "raise_limit",
    "lower_own_limit", "lower_limit_of_parent", "read_limit_of_parent", "slow_parent", "pin_parent",
    "idle_parent", "idle_disk_of_parent", "hurry", "own_signals_of_parent", "choose_signal",
    "own_signals_extended", "own_signals_by_ioctl", "outlive_parent", "leave_group",
    "leave_session", "watch_folders", "remove_shared_memory", "remove_queue",
]  # fmt: skip

OTHERS = [
    "list_folder", "read_parent", "change_root", "open_socket", "connect", "limits",
    "hoard_descriptors", "status", "work",
]  # fmt: skip


def sandbox_of(readable: list[str]) -> Sandbox:
    return Sandbox(workers=1, import_path=[HERE], readable=readable)


@pytest_asyncio.fixture(scope="module")
async def sandbox() -> AsyncGenerator[Sandbox]:
    """One worker for all attempts: what one of them brings about would make the next ones fail."""
    pool = sandbox_of([])
    yield pool
    await pool.close()


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path / "secret.key"
    file.write_text("the key")
    return file


def state_of(file: Path) -> tuple[str, os.stat_result, list[str]]:
    return file.read_text(), file.stat(), os.listdir(file.parent)  # noqa: PTH208 (names)


@pytest.mark.parametrize("name", ON_FILES)
async def test_files_are_out_of_reach(sandbox: Sandbox, secret: Path, name: str):
    before = state_of(secret)
    with pytest.raises(Bug, match="PermissionError"):
        await sandbox.call(f"confined_operations:{name}", str(secret), deadline=10)

    assert state_of(secret) == before


@pytest_asyncio.fixture(scope="module")
async def readable(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncGenerator[tuple[Sandbox, Path]]:
    """A worker that may read a file, and the file."""
    file = tmp_path_factory.mktemp("readable") / "secret.key"
    file.write_text("the key")
    pool = sandbox_of([str(file)])
    yield pool, file
    await pool.close()


@pytest.mark.parametrize("name", [name for name in ON_FILES if name != "read_file"])
async def test_what_may_be_read_may_not_be_changed(readable: tuple[Sandbox, Path], name: str):
    sandbox, secret = readable
    before = state_of(secret)
    read = await sandbox.call("confined_operations:read_file", str(secret), deadline=10)
    assert read == "the key"
    with pytest.raises(Bug, match="PermissionError"):
        await sandbox.call(f"confined_operations:{name}", str(secret), deadline=10)

    assert state_of(secret) == before


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "/etc/shadow", "/proc/1/environ", f"{HERE}/../../../pyproject.toml"]
)
async def test_only_code_may_be_read(sandbox: Sandbox, path: str):
    with pytest.raises(Bug, match="PermissionError"):
        await sandbox.call("confined_operations:read_file", path, deadline=10)


@pytest.mark.parametrize("path", ["/", "/etc", "/home", "/tmp", "/proc"])  # noqa: S108 (to look)
async def test_folders_cannot_be_listed(sandbox: Sandbox, path: str):
    with pytest.raises(Bug, match="PermissionError"):
        await sandbox.call("confined_operations:list_folder", path, deadline=10)


@pytest.mark.parametrize("name", ["environ", "mem", "cmdline", "maps"])
async def test_the_server_is_out_of_reach(sandbox: Sandbox, name: str):
    with pytest.raises(Bug, match="PermissionError"):
        await sandbox.call("confined_operations:read_parent", name, deadline=10)


@pytest.mark.parametrize("name", ON_THE_SYSTEM)
async def test_the_system_is_out_of_reach(sandbox: Sandbox, name: str):
    with pytest.raises(Bug, match=r"PermissionError|not allowed to raise"):
        await sandbox.call(f"confined_operations:{name}", None, deadline=10)


async def test_the_root_cannot_be_changed(sandbox: Sandbox, tmp_path: Path):
    with pytest.raises(Bug, match="PermissionError"):
        await sandbox.call("confined_operations:change_root", str(tmp_path), deadline=10)


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6, socket.AF_UNIX])
async def test_there_are_no_sockets(sandbox: Sandbox, family: int):
    with pytest.raises(Bug, match="PermissionError"):
        await sandbox.call("confined_operations:open_socket", int(family), deadline=10)


async def test_nothing_is_connected(sandbox: Sandbox):
    with socket.create_server(("127.0.0.1", 0)) as server:
        with pytest.raises(Bug, match="PermissionError"):
            await sandbox.call("confined_operations:connect", server.getsockname()[1], deadline=10)
        server.settimeout(0.1)
        with pytest.raises(TimeoutError):
            server.accept()


async def test_limits_hold_for_good():
    sandbox = sandbox_of([])  # the descriptors stay open
    try:
        assert await sandbox.call("confined_operations:limits", None, deadline=10) == [
            [DESCRIPTORS] * 2,
            [0, 0],
            [0, 0],
        ]
        with pytest.raises(Bug, match="Too many open files"):
            await sandbox.call("confined_operations:hoard_descriptors", None, deadline=10)
    finally:
        await sandbox.close()


@pytest.mark.parametrize(("field", "value"), [("NoNewPrivs", "1"), ("Seccomp", "2")])
async def test_the_kernel_says_so_too(sandbox: Sandbox, field: str, value: str):
    assert await sandbox.call("confined_operations:status", field, deadline=10) == value


async def test_what_operations_need_still_works(sandbox: Sandbox):
    for _ in range(2):
        done = await sandbox.call("confined_operations:work", None, deadline=10)
        assert done == [[1], "colorsys", "Europe/Berlin", 4]


async def test_an_operation_that_is_imported_later_is_confined_as_well():
    sandbox = Sandbox(workers=1, import_path=[HERE])
    try:
        await sandbox.call("confined_operations:limits", None, deadline=10)
        assert "LANG" in await sandbox.call("sample_operations:environment", None, deadline=10)
    finally:
        await sandbox.close()

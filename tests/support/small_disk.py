"""A small file system of its own that tests fill up."""

import contextlib
import os
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

MEGABYTES = 256


class SmallDisk:
    """A file system of its own that can be filled up."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def fill(self, *, leaving: int = 0) -> None:
        """Take all space but so many bytes, whatever the server takes meanwhile."""
        zeros = bytes(64 * 1024)
        with self._filler.open("ab", buffering=0) as file, contextlib.suppress(OSError):
            while self._free_bytes() > leaving:
                file.write(zeros)
            while not leaving:
                file.write(b"0")

    def _free_bytes(self) -> int:
        free = os.statvfs(self.folder)
        return free.f_bavail * free.f_frsize

    def free(self) -> None:
        """Give the space back."""
        self._filler.unlink()


@contextlib.contextmanager
def small_disk(folder: Path) -> Generator[SmallDisk]:
    """Mount one on an empty folder; without the right to do that, the test is skipped."""
    options = ["-t", "tmpfs", "-o", f"size={MEGABYTES}m", "tmpfs", str(folder)]
    mounted = subprocess.run(["mount", *options], capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"a small tmpfs cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Generator[SmallDisk]:
    """An empty one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    with small_disk(folder) as opened:
        yield opened

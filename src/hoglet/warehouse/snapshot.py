"""A consistent copy of the embedded warehouse's folder, made of hard links.

The files of a finished part never change, so links are as good as copies and cost nothing; the few
other files are copied. While the links are made, no insert runs and no merge removes parts.

Source: docs/adr/0020-online-backup.md.
"""

import asyncio
import os
import shutil
from pathlib import Path

_PART_MARK = "checksums.txt"
_UNFINISHED = ("tmp", "delete_tmp", "detached", "shadow")


class WriteGate:
    """Lets writes pass until it is closed; closing it waits for writes in progress.

    Concurrency: used from one event loop; ``leave`` may be called once for each ``enter``.
    """

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._idle = asyncio.Event()
        self._open.set()
        self._idle.set()
        self._passed = 0

    async def enter(self) -> None:
        """Wait until the gate is open."""
        await self._open.wait()
        self._passed += 1
        self._idle.clear()

    def leave(self) -> None:
        """Record that a write has ended."""
        self._passed -= 1
        if not self._passed:
            self._idle.set()

    async def close(self) -> None:
        """Hold back further writes and wait until those in progress have ended."""
        self._open.clear()
        await self._idle.wait()

    def reopen(self) -> None:
        """Let writes pass again."""
        self._open.set()


def clone_folder(source: Path, target: Path) -> None:
    """Link the files of finished parts, copy all other files, and recreate symbolic links.

    Args:
        source: the warehouse's folder.
        target: a folder that does not exist yet, on the same file system.
    """
    for folder, names, files in os.walk(source):
        names[:] = [name for name in names if not name.startswith(_UNFINISHED)]
        copy = target / Path(folder).relative_to(source)
        copy.mkdir(mode=0o700)
        _clone_links(Path(folder), names, copy)
        is_part = _PART_MARK in files or folder.endswith(".proj")
        for file in files:
            if is_part:
                os.link(Path(folder, file), copy / file)
            else:
                shutil.copy2(Path(folder, file), copy / file, follow_symlinks=False)


def _clone_links(folder: Path, names: list[str], copy: Path) -> None:
    """Recreate symbolic links to folders; ``os.walk`` lists them but does not follow them."""
    for name in names:
        link = folder / name
        if link.is_symlink():
            (copy / name).symlink_to(link.readlink())

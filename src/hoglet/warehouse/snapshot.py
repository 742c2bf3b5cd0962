"""A consistent copy of the embedded warehouse's folder, made of hard links.

The files of a finished part never change, so links are as good as copies and cost nothing; the few
other files are copied. While the links are made, no merge removes parts and no insert runs (see
``clickhouse.WriteGate``).

Source: docs/adr/0020-online-backup.md.
"""

import os
import shutil
from pathlib import Path

_PART_MARK = "checksums.txt"
_UNFINISHED = ("tmp", "delete_tmp", "detached", "shadow")


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

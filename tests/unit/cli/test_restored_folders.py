"""``hoglet restore`` says that it is done when all of it is on disk."""

import os
from pathlib import Path

import pytest

from hoglet.app.backup.layout import DATABASE, MANIFEST, WAREHOUSE
from hoglet.cli.backup import restore


def test_all_files_and_folders_are_on_disk_before_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy, data = tmp_path / "copy", tmp_path / "data"
    (copy / WAREHOUSE / "part").mkdir(parents=True)
    for name in (MANIFEST, DATABASE, f"{WAREHOUSE}/part/data.bin"):
        (copy / name).write_text("{}")
    (copy / "current").symlink_to("nowhere")
    synced = set[int]()
    sync = os.fsync

    def noted(descriptor: int) -> None:
        synced.add(os.fstat(descriptor).st_ino)
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    restore(copy, data)

    written = [path for path in (tmp_path, data, *data.rglob("*")) if not path.is_symlink()]
    assert (data / WAREHOUSE / "part" / "data.bin") in written
    assert synced.issuperset(path.stat().st_ino for path in written)

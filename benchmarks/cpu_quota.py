"""Limits processes to a share of a core, with a control group of Linux (versions 1 and 2)."""

import contextlib
import os
from collections.abc import Generator
from pathlib import Path

PERIOD_US = 20_000  # short, so that a request does not wait long for the next period
_GROUPS = Path("/sys/fs/cgroup")


def is_available() -> bool:
    """Whether this user may create control groups."""
    return os.access(_parent(), os.W_OK)


@contextlib.contextmanager
def limited(process: int, cores: float) -> Generator[None]:
    """Limit a process, and those that it has started and will start, until it has ended.

    Args:
        process: its id.
        cores: for all of them together.

    Raises:
        OSError: control groups may not be created, or have no limit of processor time.
    """
    group = _parent() / f"hoglet-benchmark-{process}"
    group.mkdir()
    try:
        quota = int(PERIOD_US * cores)
        if _is_first_version():
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(quota))
        else:
            (group / "cpu.max").write_text(f"{quota} {PERIOD_US}")
        for each in [process, *_children(process)]:
            (group / "cgroup.procs").write_text(str(each))
        yield
    finally:
        group.rmdir()


def _parent() -> Path:
    return _GROUPS / "cpu" if _is_first_version() else _GROUPS


def _is_first_version() -> bool:
    return (_GROUPS / "cpu").is_dir()


def _children(process: int) -> list[int]:
    threads = Path(f"/proc/{process}/task").iterdir()
    return [int(child) for thread in threads for child in (thread / "children").read_text().split()]

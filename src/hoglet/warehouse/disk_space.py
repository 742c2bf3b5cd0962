"""Refuses writes of the embedded engine before its disk is full.

The engine (26.9) takes a failed write for a good one: an insert on a full disk succeeds, and leaves
a part with truncated files, which a later start finds broken. It reserves about the size of a block
beforehand, which is not enough beside other writers, and does not notice ``ulimit -f`` at all.
"""

import resource
import shutil
from pathlib import Path

from hoglet.warehouse.errors import WarehouseDown

SPARE_BYTES = 32 * 1024**2  # above what writers next to an insert, such as SQLite, may take
_MB = 1_000_000


def check_disk_space(folder: Path) -> None:
    """Check that the engine can write into its folder.

    Raises:
        WarehouseDown: the disk is nearly full, or files may not grow; retrying helps once it is
            not. Nothing was written.
    """
    free = shutil.disk_usage(folder).free
    if free < SPARE_BYTES:
        raise WarehouseDown(
            f"The disk of the warehouse is full: {free // _MB} MB are free in {folder}, "
            f"and {SPARE_BYTES // _MB} MB are needed to write safely."
        )
    if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY:
        raise WarehouseDown(
            "The size of files is limited (ulimit -f), and the warehouse cannot tell when a "
            "write fails; start hoglet without this limit."
        )

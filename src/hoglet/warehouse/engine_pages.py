"""Unmaps the pages of the engine's library that nothing needed but its start.

Relocation and initializers read 160 MiB of the file, most of it once. The pages would stay mapped:
they count as memory of the process, and the kernel takes them for being in use. Unmapped pages stay
in the page cache, and are mapped again when they are read.
"""

import contextlib
import ctypes
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_SMAPS = Path("/proc/self/smaps")
_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ \d+\s*(.*)")
_DONTNEED = 4  # MADV_DONTNEED


class Mapping(NamedTuple):
    """A mapping of this process from address ``start`` up to ``end``.

    ``is_changed``: pages were written, as relocation does before it makes them read-only.
    """

    start: int
    end: int
    path: str
    is_changed: bool


def unmap_loaded_pages(library: str) -> None:
    """Unmap the unchanged pages of a loaded library; nothing happens if that is not possible.

    Args:
        library: the name of its file, without the folder.

    Idempotency: repeating it costs only time. Concurrency: other threads may run code in it.
    """
    with contextlib.suppress(OSError, AttributeError):  # not Linux
        madvise = ctypes.CDLL(None).madvise
        madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        for mapping in file_mappings(library):
            if not mapping.is_changed:  # else the changes would be lost
                madvise(mapping.start, mapping.end - mapping.start, _DONTNEED)


def file_mappings(library: str) -> Iterator[Mapping]:
    """The read-only mappings of a library.

    Raises:
        OSError: without ``/proc``.
    """
    head: re.Match[str] | None = None
    with _SMAPS.open() as lines:
        for line in lines:
            if (match := _MAPPING.match(line)) is not None:
                is_read_only = "w" not in match[3] and match[4].endswith(f"/{library}")
                head = match if is_read_only else None
            elif head is not None and line.startswith("Anonymous:"):
                is_changed = line.split()[1] != "0"
                yield Mapping(int(head[1], 16), int(head[2], 16), head[4], is_changed)

"""What a process does with memory that it frees: keeps what it needs again, returns the rest.

Capture frees and needs the same megabytes again and again: the bodies of requests, the messages of
groups. Memory that was returned in the meantime costs a page fault for every 4 KiB, in which the
kernel clears a page: 2.4 for each event, a tenth of the time of the server's main thread.
"""

import ctypes
import gc

# Those of 256 runs in progress live until their commit, and the events of a group until it ends.
# With 2,000, each is visited three times.
_CONTAINERS_PER_COLLECTION = 10_000
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3


def keep_freed_memory(*, most: int, largest_block: int) -> None:
    """Have the allocator keep freed memory, and return large blocks at once.

    By default glibc returns all but 128 KiB. Large blocks, however, it keeps once the first one
    was freed, between smaller ones that are in use: six events of 19 MB left 990 MB in the server,
    now 330. Other C libraries are left alone.

    Idempotency: repeating it changes nothing.

    Args:
        most: bytes; what is free at the end of the heap beyond them is returned.
        largest_block: bytes; larger blocks are returned when they are freed.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "gnu_get_libc_version"):
        libc.mallopt(_M_MMAP_THRESHOLD, largest_block)
        libc.mallopt(_M_TRIM_THRESHOLD, most)


def collect_less() -> None:
    """Never visit the objects that exist now, and others less often than Python does.

    Permanent objects, such as modules, took 50 ms of requests.
    """
    gc.freeze()
    gc.set_threshold(_CONTAINERS_PER_COLLECTION, *gc.get_threshold()[1:])

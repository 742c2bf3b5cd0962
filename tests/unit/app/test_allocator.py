"""Large blocks leave the process when they are freed."""

import platform
import subprocess
import sys

import pytest

BLOCKS, BLOCK_MB = 10, 20
# Each large block is followed by a small one that stays, so that the heap cannot shrink.
PROGRAM = f"""
from hoglet.app.startup.requirements import return_large_blocks

def resident_mb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 // 1024**2

return_large_blocks()
bytearray({BLOCK_MB} << 20)  # freeing the first one would change what glibc does with the next
before = resident_mb()
large, small = [], []
for _ in range({BLOCKS}):
    large.append(b"x" * ({BLOCK_MB} << 20))
    small.append(b"x" * 100_000)
held = resident_mb() - before
large.clear()
print(held, resident_mb() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators are left alone")
def test_freed_bodies_leave_the_process() -> None:
    printed = subprocess.check_output([sys.executable, "-c", PROGRAM], text=True)
    held, left = map(int, printed.split())

    assert held >= BLOCKS * BLOCK_MB
    assert left < BLOCK_MB

"""Memory that is needed again is kept; large blocks leave the process when they are freed."""

import platform
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="other allocators are left alone"
)

KEPT_MB, LARGEST_KEPT_MB = 32, 4
BLOCKS, BLOCK_MB = 10, 20
# Each large block is followed by a small one that stays, so that the heap cannot shrink.
LARGE_BLOCKS = f"""
from hoglet.kit.freed_memory import keep_freed_memory

def resident_mb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 // 1024**2

keep_freed_memory(most={KEPT_MB} << 20, largest_block={LARGEST_KEPT_MB} << 20)
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
BODIES = f"""
import resource
from hoglet.kit.freed_memory import keep_freed_memory

def faults_of_bodies():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        [b"x" * 200_000 for _ in range({KEPT_MB} * 2)]
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults = faults_of_bodies()
keep_freed_memory(most={KEPT_MB} << 20, largest_block={LARGEST_KEPT_MB} << 20)
faults_of_bodies()
print(faults, faults_of_bodies())
"""


def test_freed_bodies_leave_the_process() -> None:
    held, left = _figures(LARGE_BLOCKS)

    assert held >= BLOCKS * BLOCK_MB
    assert left < BLOCK_MB


def test_bodies_of_usual_size_reuse_memory() -> None:
    faults, faults_later = _figures(BODIES)

    assert faults_later < faults / 10


def _figures(program: str) -> list[int]:
    printed = subprocess.check_output([sys.executable, "-c", program], text=True)
    return [int(figure) for figure in printed.split()]

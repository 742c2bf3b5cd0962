"""The seccomp filter of a worker: the system calls that fail, as classic BPF."""

import errno
import os
import platform
import struct

from hoglet.sandbox import syscalls

STEP_BYTES = 8  # of an instruction, struct sock_filter

_LOAD, _EQUALS, _AT_LEAST, _HAS_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _FAIL, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_FOREIGN_CALLS = 0x40000000  # system call numbers of the x32 ABI start here
_THREAD = 0x00010000  # of the flags of clone
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def program() -> bytes:
    """The filter for this machine, as an array of ``struct sock_filter``.

    A denied call fails with EPERM; ``clone3`` and ``openat2`` fail with ENOSYS, so that the C
    library uses the older calls, whose flags a filter can inspect. Calls of another architecture
    kill the process.
    """
    machine = platform.machine()
    column = list(syscalls.ARCHITECTURES).index(machine)
    steps = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUALS, syscalls.ARCHITECTURES[machine], then=1),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
        _step(_AT_LEAST, _FOREIGN_CALLS, otherwise=1),
        _step(_RETURN, _KILL),
    ]
    for absent in (syscalls.CLONE3, syscalls.OPENAT2):
        steps += _fail(absent[column], errno.ENOSYS)
    for denied in syscalls.DENIED.values():
        steps += _fail(denied[column], errno.EPERM)
    for numbers, argument in ((syscalls.OPEN, 1), (syscalls.OPENAT, 2)):
        steps += _fail_by_argument(numbers[column], argument, _HAS_BITS, _WRITES, fails=True)
    steps += _fail_by_argument(syscalls.CLONE[column], 0, _HAS_BITS, _THREAD, fails=False)
    steps += _fail_by_argument(syscalls.TGKILL[column], 0, _EQUALS, os.getpid(), fails=False)
    steps.append(_step(_RETURN, _ALLOW))
    return b"".join(steps)


def _fail(number: int | None, code: int) -> list[bytes]:
    if number is None:
        return []
    return [_step(_EQUALS, number, otherwise=1), _step(_RETURN, _FAIL | code)]


def _fail_by_argument(
    number: int | None, argument: int, test: int, value: int, *, fails: bool
) -> list[bytes]:
    """A call that fails if one of its arguments passes a test, or if it does not."""
    if number is None:
        return []
    met, unmet = (_FAIL | errno.EPERM, _ALLOW) if fails else (_ALLOW, _FAIL | errno.EPERM)
    return [
        _step(_EQUALS, number, otherwise=4),
        _step(_LOAD, _ARGUMENTS + 8 * argument),  # the lower half: flags and ids have 32 bits
        _step(test, value, otherwise=1),
        _step(_RETURN, met),
        _step(_RETURN, unmet),
    ]


def _step(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    """``struct sock_filter``; jumps are numbers of instructions to skip."""
    return struct.pack("=HBBI", code, then, otherwise, value)

"""The second line of defense around a worker: restrictions enforced by the kernel.

The first line is that programs are compiled to code that can only compute. Code that breaks out of
it is still in a process that cannot read secrets, write files, open sockets, start programs or
affect other processes:

- ``no_new_privs``: no program can gain privileges.
- Landlock (Linux 5.13): only a few folders of code are readable.
- seccomp, a filter in classic BPF: the calls in ``hoglet.sandbox.syscalls`` fail; files can only
    be opened for reading, and ``ioctl`` cannot change their flags; ``clone`` creates threads, not
    processes; resource limits can be read but not set, so the worker can neither raise its own nor
    lower those of the server.
- ``setrlimit``: few descriptors, no bytes written to files, no core dumps.

The restrictions are irreversible. Those that a platform lacks are skipped: see
:func:`missing_walls`. The kernel's interface is three calls and two structures, so it is used
directly.
"""

import contextlib
import ctypes
import errno
import functools
import os
import platform
import resource
import struct
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from hoglet.sandbox import syscalls
from hoglet.sandbox.syscalls import Numbers

DESCRIPTORS = 64

_PR_GET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 21, 38
_CREATE_RULESET_VERSION, _RULE_PATH_BENEATH = 1, 1
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
# Access rights known to each Landlock version: network rights since version 4, signals to and
# sockets of other processes since version 6.
_FILE_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_TCP, _TCP_SINCE = 0b11, 4
_SCOPES, _SCOPES_SINCE = 0b11, 6
# The second flag avoids the CPU's slow mode against speculation, as newer kernels do by default.
_SET_FILTER, _ALL_THREADS, _SPECULATION_ALLOWED = 1, 1 << 0, 1 << 2
_SYSTEM_PATHS = (
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/share/zoneinfo",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/dev/null",
    "/dev/urandom",
    "/proc/self",
)


def confine(readable: Iterable[str]) -> None:
    """Confine this process permanently; call it while it has a single thread.

    Args:
        readable: files and folders to allow in addition to Python's and hoglet's own code.

    Raises:
        OSError: the kernel supports a restriction but refuses to apply it.
    """
    _call(_libc().prctl, _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _limit_resources()
    if landlock_version():
        _restrict_files([*_code_folders(), *_SYSTEM_PATHS, *readable])
    if has_seccomp():
        _filter_calls()


def missing_walls() -> list[str]:
    """Restrictions that this platform lacks, e.g. ``["Landlock"]``."""
    walls = {"Landlock": bool(landlock_version()), "seccomp": has_seccomp()}
    return [name for name, is_there in walls.items() if not is_there]


def landlock_version() -> int:
    """The kernel's Landlock version; 0 without support."""
    if sys.platform != "linux":
        return 0
    number = syscalls.LANDLOCK_CREATE_RULESET[0]
    return max(0, _libc().syscall(number, None, 0, _CREATE_RULESET_VERSION))


def has_seccomp() -> bool:
    """Whether the kernel supports seccomp filters and this architecture's calls are known."""
    if sys.platform != "linux" or platform.machine() not in syscalls.ARCHITECTURES:
        return False
    return _libc().prctl(_PR_GET_SECCOMP, 0, 0, 0, 0) >= 0


def _limit_resources() -> None:
    _lower(resource.RLIMIT_NOFILE, DESCRIPTORS)
    _lower(resource.RLIMIT_FSIZE, 0)
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_MSGQUEUE, 0)
    _lower(resource.RLIMIT_MEMLOCK, 0)


def _lower(kind: int, most: int) -> None:
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (most, most))


def _code_folders() -> list[str]:
    """Folders with modules and shared libraries, without the other files of a checkout."""
    own = (sys.prefix, sys.base_prefix)
    modules = [path for path in sys.path if any(Path(path).is_relative_to(each) for each in own)]
    return [*modules, str(Path(sys.base_prefix) / "lib"), str(Path(__file__).parent.parent)]


def _restrict_files(paths: Iterable[str]) -> None:
    version = landlock_version()
    handled = max(rights for since, rights in _FILE_RIGHTS.items() if since <= version)
    attributes = struct.pack("=Q", handled)
    if version >= _TCP_SINCE:
        attributes += struct.pack("=Q", _TCP)
    if version >= _SCOPES_SINCE:
        attributes += struct.pack("=Q", _SCOPES)
    ruleset = _syscall(syscalls.LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0)
    for path in dict.fromkeys(paths):
        _allow_reading(ruleset, path)
    _syscall(syscalls.LANDLOCK_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _allow_reading(ruleset: int, path: str) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # not available on this platform
    rights = _READ_FILE | (_READ_DIR if Path(path).is_dir() else 0)
    rule = struct.pack("=Qi", rights, descriptor)
    _syscall(syscalls.LANDLOCK_ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0)
    if path != "/proc/self":  # the kernel may drop its entry, and with it the rule
        os.close(descriptor)


def _filter_calls() -> None:
    steps = seccomp_program()
    buffer = ctypes.create_string_buffer(steps, len(steps))
    program = struct.pack("@HP", len(steps) // STEP_BYTES, ctypes.addressof(buffer))
    flags = _ALL_THREADS | _SPECULATION_ALLOWED
    _syscall(syscalls.SECCOMP, _SET_FILTER, flags, program)


def _syscall(numbers: Numbers, *arguments: int | bytes | None) -> int:
    """A system call without a wrapper in the C library."""
    column = list(syscalls.ARCHITECTURES).index(platform.machine())
    wide = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return _call(_libc().syscall, numbers[column], *wide)


def _call(function: Any, *arguments: Any) -> int:
    result: int = function(*arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"the kernel refused to confine a worker: {os.strerror(number)}")
    return result


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


STEP_BYTES = 8  # of an instruction, struct sock_filter

_LOAD, _EQUALS, _AT_LEAST, _HAS_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _FAIL, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_FOREIGN_CALLS = 0x40000000  # system call numbers of the x32 ABI start here
_THREAD = 0x00010000  # of the flags of clone
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Commands that make the kernel send signals to another process, block writers of a file, or keep a
# worker alive after the server has died: F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY;
# PR_SET_PDEATHSIG.
_DENIED_COMMANDS = (
    (syscalls.FCNTL, 1, (8, 10, 15, 1024, 1026)),
    (syscalls.PRCTL, 0, (1,)),
)
# All other ioctl commands are denied, because file systems and devices have many that change things
# even through a read-only descriptor (flags, freezing). TCGETS, TCGETS2, TIOCGWINSZ; FIONREAD,
# FIONBIO, FIONCLEX, FIOCLEX.
_ALLOWED_IOCTLS = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
_PRLIMIT_PID, _PRLIMIT_NEW = 0, 2


def seccomp_program() -> bytes:
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
    for numbers, argument, commands in _DENIED_COMMANDS:
        steps += _fail_by_command(numbers[column], argument, commands, fails=True)
    steps += _fail_by_command(syscalls.IOCTL[column], 1, _ALLOWED_IOCTLS, fails=False)
    steps += _fail_unless_zero(syscalls.PRLIMIT64[column], (_PRLIMIT_PID, _PRLIMIT_NEW))
    steps.append(_step(_RETURN, _ALLOW))
    return b"".join(steps)


def _fail(number: int | None, code: int) -> list[bytes]:
    if number is None:
        return []
    return [_step(_EQUALS, number, otherwise=1), _step(_RETURN, _FAIL | code)]


def _fail_by_argument(
    number: int | None, argument: int, test: int, value: int, *, fails: bool
) -> list[bytes]:
    """Instructions that fail a call if an argument passes (or does not pass) a test."""
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


def _fail_by_command(
    number: int | None, argument: int, commands: Sequence[int], *, fails: bool
) -> list[bytes]:
    """Instructions that fail a call if an argument is (or is not) one of these numbers."""
    if number is None:
        return []
    denial = _FAIL | errno.EPERM
    last = len(commands) - 1
    tests = [
        _step(_EQUALS, value, then=last - index, otherwise=int(index == last))
        for index, value in enumerate(commands)
    ]
    return [
        _step(_EQUALS, number, otherwise=len(commands) + 3),
        _step(_LOAD, _ARGUMENTS + 8 * argument),
        *tests,
        _step(_RETURN, denial if fails else _ALLOW),
        _step(_RETURN, _ALLOW if fails else denial),
    ]


def _fail_unless_zero(number: int | None, arguments: Sequence[int]) -> list[bytes]:
    """Instructions that fail a call unless all 64 bits of these arguments are zero."""
    if number is None:
        return []
    halves = [_ARGUMENTS + 8 * argument + half for argument in arguments for half in (0, 4)]
    steps = [_step(_EQUALS, number, otherwise=2 * len(halves) + 2)]
    for left, offset in zip(range(len(halves) - 1, -1, -1), halves, strict=True):
        steps += [_step(_LOAD, offset), _step(_EQUALS, 0, otherwise=2 * left + 1)]
    return [*steps, _step(_RETURN, _ALLOW), _step(_RETURN, _FAIL | errno.EPERM)]


def _step(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    """One ``struct sock_filter``; jumps are given as the number of instructions to skip."""
    return struct.pack("=HBBI", code, then, otherwise, value)

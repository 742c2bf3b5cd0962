# ruff: noqa: PTH101, PTH102, PTH104, PTH108, PTH123, PTH208, PTH211, S103, S606, T201
"""What an escaped program might try in a worker; each operation is one try, in the worker."""

import ctypes
import fcntl
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path


def read_file(path):
    return Path(path).read_text(errors="replace")


def read_parent(name):
    return Path(f"/proc/{os.getppid()}/{name}").read_bytes().decode(errors="replace")


def list_folder(path):
    return os.listdir(path)


def write_file(path):
    with open(path, "w") as file:
        file.write("x")


def append_to_file(path):
    with open(path, "a") as file:
        file.write("x")


def remove_file(path):
    os.unlink(path)


def rename_file(path):
    os.rename(path, path + ".new")


def truncate_file(path):
    os.truncate(path, 0)


def open_up(path):
    os.chmod(path, 0o777)


def give_away(path):
    os.chown(path, 1, 1)


def touch(path):
    os.utime(path, (1, 1))


def label(path):
    """``setxattrat``, in kernels since 6.13; not restricted by Landlock."""
    value = ctypes.create_string_buffer(b"v")
    given = struct.pack("=QII", ctypes.addressof(value), 1, 0)
    call(463, -100, path.encode(), 0, b"user.x", given, len(given))


def set_attributes(path):
    """``file_setattr``, in kernels since 6.17; not restricted by Landlock. Not 8, "immutable"."""
    call(469, -100, path.encode(), struct.pack("=QIIII", 0x80, 0, 0, 0, 0), 24, 0)


def link(path):
    os.link(path, path + ".link")


def symlink(path):
    os.symlink(path, path + ".link")


def make_folder(path):
    os.mkdir(path + ".folder")


def set_flags(path):
    with open(path, "rb") as file:
        flags = fcntl.ioctl(file, 0x80086601, bytes(8))
        fcntl.ioctl(file, 0x40086602, (flags[0] | 0x40).to_bytes(8, "little"))


def freeze_disk(path):
    with open(path, "rb") as file:
        fcntl.ioctl(file, 0xC0045878, 0)  # FITHAW: harmless should it succeed


def hold_up_writers(path):
    with open(path, "rb") as file:
        fcntl.fcntl(file, 1024, fcntl.F_RDLCK)


def make_anonymous_file(_):
    os.memfd_create("x")


def open_socket(family):
    socket.socket(family)


def open_pair(_):
    socket.socketpair()


def connect(port):
    socket.create_connection(("127.0.0.1", port), timeout=2)


def run_program(_):
    subprocess.run(["/bin/true"], check=True)


def replace_program(_):
    os.execv(sys.executable, [sys.executable, "-c", ""])


def fork(_):
    if os.fork() == 0:
        os._exit(0)


def signal_parent(_):
    os.kill(os.getppid(), signal.SIGCONT)


def trace_parent(_):
    check(ctypes.CDLL(None, use_errno=True).ptrace(16, os.getppid(), None, None))


def take_descriptor_of_parent(_):
    check(ctypes.CDLL(None, use_errno=True).syscall(438, os.pidfd_open(os.getppid()), 0, 0))


def become_other(_):
    os.setuid(65534)


def leave_namespaces(_):
    check(ctypes.CDLL(None, use_errno=True).unshare(0x10000000))


def change_root(path):
    os.chroot(path)


def raise_limit(_):
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))


def lower_limit_of_parent(_):
    resource.prlimit(os.getppid(), resource.RLIMIT_CORE, (0, 0))


def read_limit_of_parent(_):
    resource.prlimit(os.getppid(), resource.RLIMIT_CORE)


def lower_own_limit(_):
    resource.setrlimit(resource.RLIMIT_CPU, (1000, 1000))


def slow_parent(_):
    os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)


def pin_parent(_):
    os.sched_setaffinity(os.getppid(), {0})


def idle_parent(_):
    os.sched_setscheduler(os.getppid(), os.SCHED_OTHER, os.sched_param(0))


def hurry(_):
    os.nice(-1)


def idle_disk_of_parent(_):
    number = {"x86_64": 251, "aarch64": 30}[os.uname().machine]
    check(ctypes.CDLL(None, use_errno=True).syscall(number, 1, os.getppid(), 3 << 13))


def own_signals_of_parent(_):
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getppid())


def choose_signal(_):
    fcntl.fcntl(0, fcntl.F_SETSIG, signal.SIGURG)


def own_signals_extended(_):
    fcntl.fcntl(0, 15, b"\x01\0\0\0" + os.getppid().to_bytes(4, "little"))


def own_signals_by_ioctl(_):
    fcntl.ioctl(0, 0x8901, os.getppid().to_bytes(4, "little"))


def outlive_parent(_):
    check(ctypes.CDLL(None, use_errno=True).prctl(1, 0, 0, 0, 0))


def leave_group(_):
    os.setpgid(0, 0)


def leave_session(_):
    os.setsid()


def watch_folders(_):
    check(ctypes.CDLL(None, use_errno=True).inotify_init())


def hoard_descriptors(_):
    return len([os.dup(0) for _ in range(4096)])


def remove_shared_memory(_):
    call({"x86_64": 31, "aarch64": 195}[os.uname().machine], -1, 0, None)


def remove_queue(_):
    call({"x86_64": 241, "aarch64": 181}[os.uname().machine], b"no-such-queue")


def call(number, *arguments):
    check(ctypes.CDLL(None, use_errno=True).syscall(number, *arguments))


def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")


def status(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith(name + ":"))


def limits(_):
    names = ("NOFILE", "FSIZE", "CORE")
    return [resource.getrlimit(getattr(resource, f"RLIMIT_{name}")) for name in names]


def work(_):
    """What operations do need: threads, modules not yet imported, zones, memory figures, output."""
    import colorsys
    from zoneinfo import ZoneInfo

    from hoglet.hog.python.memory import process_bytes

    seen: list[int] = []
    thread = threading.Thread(target=seen.append, args=(1,))
    thread.start()
    thread.join()
    print("printed")
    assert process_bytes() > 1 << 20
    assert fcntl.fcntl(0, fcntl.F_GETFD) == 0
    os.set_blocking(0, True)
    os.set_inheritable(0, True)
    assert not os.isatty(0)
    assert resource.getrlimit(resource.RLIMIT_AS)[0] > 1 << 20
    return [seen, colorsys.__name__, ZoneInfo("Europe/Berlin").key, len(os.urandom(4))]

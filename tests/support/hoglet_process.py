"""``hoglet`` in processes of its own, forked from one that has imported it.

Half of a server's start, and most of a command, is imports: 0.9 and 0.3 s of processor time, a
hundred times in a test run. A forked process differs from ``python -m hoglet`` only in that. Tests
of the start itself, of what it imports, or of a child's limits start the command.

The first process of a test run starts the template; each request to it forks twice, so that the
outer child can wait for the command and report its exit status.
"""

import atexit
import gc
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

_TESTS = str(Path(__file__).parents[1])
_NUMBER_BYTES = 4  # of sizes, process ids and exit statuses
_READ_AT_START = ("PYTHON", "LC_", "LANG")
_requesting = threading.Lock()  # tests start servers in threads


class HogletProcess(subprocess.Popen[Any]):
    """``python -m hoglet WORDS`` as a process, with the options of ``subprocess.Popen``.

    The environment must be one that :func:`can_fork`. SIGINT interrupts the process.

    Popen has no public way to get a child from elsewhere, so three of its private methods are
    replaced: those that start the child and ask for its status. Pipes, timeouts and signals are
    Popen's own.
    """

    _exit_status: socket.socket

    def __init__(self, words: Sequence[str], **options: Any) -> None:
        super().__init__(list(words), **options)

    def _execute_child(self, args: list[str], *more: Any) -> None:
        """Instead of starting a program, ask the template; ``more`` is what Popen passes on."""
        (_, preexec_fn, _, pass_fds, cwd, env, _, _, shell) = more[:9]
        streams = more[9:15]
        start_new_session = more[20]
        assert not any((preexec_fn, pass_fds, shell, start_new_session))
        environment = dict(os.environ if env is None else env)
        assert can_fork(environment)
        request = {"words": args, "cwd": str(cwd or Path.cwd()), "environment": environment}
        ours, theirs = socket.socketpair()
        stdin, _, _, stdout, _, stderr = streams
        given = [
            number if stream < 0 else stream
            for number, stream in enumerate((stdin, stdout, stderr))
        ]
        with theirs, _requesting:
            _send(_template()[1], json.dumps(request).encode(), [*given, theirs.fileno()])
        self.pid = int.from_bytes(_receive(ours, _NUMBER_BYTES))
        self._exit_status = ours
        self._child_created = True
        self._close_pipe_fds(*streams)

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None and self._waitpid_lock.acquire(blocking=False):
            try:
                pid, status = self._try_wait(os.WNOHANG)
                if pid:
                    self._handle_exitstatus(status)
            finally:
                self._waitpid_lock.release()
        return self.returncode

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        if self._exit_status.fileno() < 0:  # collected before the process ended
            return self.pid, 0
        if wait_flags == os.WNOHANG and not select.select([self._exit_status], [], [], 0)[0]:
            return 0, 0
        with self._exit_status:
            return self.pid, int.from_bytes(_receive(self._exit_status, _NUMBER_BYTES))


def run_hoglet(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; ``options`` are ``env``, ``cwd``, ``input`` and ``timeout``."""
    given, timeout = options.pop("input", None), options.pop("timeout", None)
    pipe = subprocess.PIPE
    stdin = subprocess.DEVNULL if given is None else pipe
    with HogletProcess(
        words, stdin=stdin, stdout=pipe, stderr=pipe, text=True, **options
    ) as process:
        try:
            stdout, stderr = process.communicate(given, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(words, process.returncode, stdout, stderr)


def can_fork(environment: dict[str, str]) -> bool:
    """Whether variables that Python reads at its start are those of the test run."""
    return _read_at_start(environment) == _read_at_start(dict(os.environ))


def _read_at_start(environment: dict[str, str]) -> dict[str, str]:
    return {name: each for name, each in environment.items() if name.startswith(_READ_AT_START)}


@cache
def _template() -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start the process that others are forked from; it ends with this one."""
    ours, theirs = socket.socketpair()
    program = f"import sys; sys.path.append({_TESTS!r})\n"
    program += f"from support.hoglet_process import serve; serve({theirs.fileno()})"
    with theirs:
        process = subprocess.Popen([sys.executable, "-c", program], pass_fds=[theirs.fileno()])
    atexit.register(_end, process, ours)
    return process, ours


def _end(process: subprocess.Popen[bytes], requests: socket.socket) -> None:
    """Let the template end, and count its processor time as that of the tests."""
    requests.close()
    process.wait()


def _send(to: socket.socket, request: bytes, files: list[int]) -> None:
    socket.send_fds(to, [len(request).to_bytes(_NUMBER_BYTES)], files)
    to.sendall(request)


def _receive(source: socket.socket, size: int) -> bytes:
    content = b""
    while len(content) < size:
        part = source.recv(size - len(content))
        if not part:
            raise EOFError("the process that hoglet is forked from has ended")
        content += part
    return content


def serve(descriptor: int) -> None:
    """Fork ``hoglet`` for each request until the other end closes; this is the template."""
    _import_hoglet()
    requests = socket.socket(fileno=descriptor)
    outer: list[int] = []
    while True:
        size, files, _, _ = socket.recv_fds(requests, _NUMBER_BYTES, 4)
        outer = [pid for pid in outer if not os.waitpid(pid, os.WNOHANG)[0]]
        if not size:
            return
        request = json.loads(_receive(requests, int.from_bytes(size)))
        outer.append(os.fork())
        if outer[-1] == 0:
            requests.close()
            _run(request, files)
            return
        for each in files:
            os.close(each)


def _import_hoglet() -> None:
    """Import what the commands and the server use, but no engine: that would start threads."""
    from hoglet.cli.server.serve import importing_server

    with importing_server():  # without the packages that a server does without
        import_module("hoglet.app.run")
    for package in ("hoglet.app", "hoglet.cli", "hoglet.project_files", "hoglet.project_tests"):
        for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            import_module(module.name)
    for name in ("alembic.command", "sqlalchemy.dialects.sqlite.aiosqlite"):  # of a first start
        import_module(name)
    assert "chdb" not in sys.modules
    assert threading.active_count() == 1
    gc.freeze()


def _run(request: dict[str, Any], files: list[int]) -> None:
    """Fork the command, report its id, wait for it and report its status."""
    *streams, status = files
    pid = os.fork()
    if pid == 0:
        os.close(status)
        _become(request, streams)
        return
    for each in (0, 1, 2, *streams):  # or readers would wait for their end
        os.close(each)
    with socket.socket(fileno=status) as tests:
        tests.sendall(pid.to_bytes(_NUMBER_BYTES))
        tests.sendall(os.waitpid(pid, 0)[1].to_bytes(_NUMBER_BYTES))
    os._exit(0)


def _become(request: dict[str, Any], streams: list[int]) -> None:
    """Be what ``python -m hoglet`` would be."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = sys.__stdin__ = os.fdopen(0, closefd=False)
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # workers of a test run ignore it
    os.chdir(request["cwd"])
    sys.path[:] = [request["cwd"], *(path for path in sys.path[1:] if path != _TESTS)]
    sys.argv = ["hoglet", *request["words"]]
    runpy.run_module("hoglet", run_name="__main__", alter_sys=True)

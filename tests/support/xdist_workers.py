"""Makes the workers of a test run share work, and say less to the process that hands it out.

They share rewritten test modules and the servers of a group. Without workers (``-n 0``) it does
nothing.
"""

import os
import re
import sys
from collections.abc import Generator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from _pytest.assertion import rewrite
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
_SHARED = re.compile(r"\b(ServerProject|shared_server)\b")


class SharedServerScheduling(LoadFileScheduling):
    """Whole files to a worker, and all files that share a server to the same one."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(_file_of(nodeid))

    def mark_test_complete(
        self, node: WorkerController, item_index: int, duration: float = 0
    ) -> None:
        """Forget a finished file: after each message of a worker, xdist counts all tests here."""
        super().mark_test_complete(node, item_index, duration)
        file = self._split_scope(self.registered_collections[node][item_index])
        if all(self.assigned_work[node][file].values()):
            del self.assigned_work[node][file]

    def remove_node(self, node: WorkerController) -> str | None:
        """Take the tests of a worker that has ended; returns the one that ended it, if any.

        What is done is left out, and so is that test: xdist would send finished files to the next
        worker, which then waits for ever, and a test that hangs would hang again.
        """
        files = self.assigned_work[node]
        unfinished = (test for tests in files.values() for test, done in tests.items() if not done)
        crashed = next(unfinished, None)
        for file, tests in list(files.items()):
            left = {test: done for test, done in tests.items() if not done and test != crashed}
            files[file] = left
            if not left:
                del files[file]
        super().remove_node(node)
        return crashed


@cache
def group_of(file: str) -> str:
    """What goes to one worker: the file, or the server that files share."""
    if file.startswith("tests/acceptance/"):
        return "tests/acceptance"
    if file.startswith("tests/e2e/") and _SHARED.search((ROOT / file).read_text()):
        return "tests/e2e: the shared server"
    return file


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the groups first: nothing else takes a worker as long."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: group_of(file := _file_of(item.nodeid)) == file)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Leave out the keywords, which nothing reads: to send those of a test takes half a ms."""
    report = yield
    if "PYTEST_XDIST_WORKER" in os.environ:
        report.keywords = {}
    return report


def _send_less(config: pytest.Config) -> None:
    """Leave out half of the messages of a worker: those that change no line of the output.

    With 15,000 tests, the process that reads them takes ten seconds for them.
    """
    option = config.option
    if option.verbose >= 0 or option.durations or option.xmlpath:
        return
    worker: Any = next(
        plugin
        for plugin in config.pluginmanager.get_plugins()
        if type(plugin).__name__ == "WorkerInteractor"
    )
    send = worker.sendevent

    def send_needed(name: str, **values: Any) -> None:
        if name == "logstart" or (name == "testreport" and _is_uneventful(values["data"])):
            return
        send(name, **values)

    worker.sendevent = send_needed


def _is_uneventful(report: dict[str, Any]) -> bool:
    """Whether it is of a set-up or teardown that passed."""
    return report["when"] != "call" and report["outcome"] == "passed"


def _file_of(nodeid: str) -> str:
    return nodeid.partition("::")[0]


def pytest_xdist_make_scheduler(
    config: pytest.Config, log: Producer
) -> SharedServerScheduling | None:
    """Instead of ``--dist loadfile``; other ways of dividing the tests stay."""
    return SharedServerScheduling(config, log) if config.option.dist == "loadfile" else None


def pytest_sessionstart(session: pytest.Session) -> None:
    """Rewrite the assertions of this worker's share of the test modules.

    All workers import all test modules, at the same time. On a fresh clone each would rewrite all
    of them, which takes four seconds of processor time.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker:
        _send_less(session.config)
    if worker and not sys.dont_write_bytecode:
        count = int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        for path in sorted(TESTS.rglob("test_*.py"))[int(worker[2:]) :: count]:
            _rewrite(path, session.config)


def _rewrite(path: Path, config: pytest.Config) -> None:
    """Write the file that pytest looks for when it imports the module.

    pytest has no public way to write it without importing the module.
    """
    folder = rewrite.get_cache_dir(path)
    cached = folder / (path.stem + rewrite.PYC_TAIL)
    if rewrite._read_pyc(path, cached) is None:
        folder.mkdir(parents=True, exist_ok=True)
        source_hash, code = rewrite._rewrite_test(path, config)
        rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, source_hash, cached)

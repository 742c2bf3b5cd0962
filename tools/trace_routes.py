"""Counts the files of hoglet that three requests cross in the server's process.

    python tools/trace_routes.py [--files] [endpoint|function|delivery ...]

Starts the complete application in this process on a temporary folder, traces a first run of an
endpoint, the creation of a function, and an event from capture to its delivery; prints for each
the files in which functions were called and how often control passed from one file to another.
A file counts if a function or method in it is called. Workers are processes of their own and are
not counted; neither is code that runs at import, the caller, or the building of the executor.
"""

import argparse
import asyncio
import inspect
import sys
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType
from typing import Any

import structlog

from hoglet.access.bootstrap import ensure_first_project
from hoglet.app import workers
from hoglet.app.services.container import open_services
from hoglet.app.services.features import build_features
from hoglet.pipeline.delivery.executor import Executor
from hoglet.project_tests.embedded import Embedded
from hoglet.queue.consumers import Bursts
from hoglet.settings import Settings

SOURCE = Path(inspect.getfile(workers)).parents[1]
CALLER = SOURCE / "project_tests"
KEY, TOKEN = "phx_" + "t" * 40, "phc_" + "t" * 40
TOOL = sys.monitoring.PROFILER_ID


class Trace:
    """Files in the order of their first call, the functions called in each, and the switches."""

    def __init__(self) -> None:
        self.files: dict[str, set[str]] = {}
        self.switches = 0
        self._last = ""

    def on_start(self, code: CodeType, _offset: int) -> object:
        """A function of any module is called."""
        if not code.co_filename.startswith(str(SOURCE)) or code.co_filename.startswith(str(CALLER)):
            return sys.monitoring.DISABLE
        if not code.co_flags & inspect.CO_OPTIMIZED:  # the body of a module or class
            return sys.monitoring.DISABLE
        file = str(Path(code.co_filename).relative_to(SOURCE))
        self.files.setdefault(file, set()).add(code.co_qualname)
        self.switches += file != self._last
        self._last = file
        return None

    @contextmanager
    def tracing(self) -> Generator[None]:
        """Count during the block, in all threads."""
        events = sys.monitoring.events.PY_START
        sys.monitoring.use_tool_id(TOOL, "routes")
        sys.monitoring.register_callback(TOOL, events, self.on_start)
        sys.monitoring.set_events(TOOL, events)
        try:
            yield
        finally:
            sys.monitoring.set_events(TOOL, 0)
            sys.monitoring.free_tool_id(TOOL)
            sys.monitoring.restart_events()


class Receiver(BaseHTTPRequestHandler):
    """Answers 200."""

    def do_POST(self) -> None:
        """Read the body, so that the connection can be used again."""
        self.rfile.read(int(self.headers["content-length"] or 0))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the base class's)
        """Write nothing."""


class Application(Embedded):
    """The application of ``hoglet test`` with an executor."""

    def build_executor(self) -> Executor:
        """The executor of the application."""
        return workers._executor(self.services, self.features, Bursts())  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]

    async def deliver(self, executor: Executor) -> None:
        """Run everything that is due."""
        while executor._running or await executor._lease_some():  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
            if executor._running:  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
                await asyncio.wait(list(executor._running))  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


@asynccontextmanager
async def open_application() -> AsyncGenerator[Application]:
    """An application with one project, on a temporary folder."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    with TemporaryDirectory(prefix="hoglet-trace-") as folder:
        settings = Settings(
            data_dir=Path(folder), executor_workers=1, compile_workers=1, allow_hosts=["127.0.0.1"]
        )  # pyright: ignore[reportCallIssue] (the rest has defaults)
        async with open_services(settings) as services:
            await ensure_first_project(
                services.database, services.clock, personal_api_key=KEY, project_token=TOKEN
            )
            yield Application(services, build_features(services), services.clock)  # pyright: ignore[reportArgumentType]


async def trace_endpoint(application: Application) -> Trace:
    """The first run of an endpoint: compiled, computed and stored in the cache."""
    query = {"kind": "HogQLQuery", "query": "SELECT event, count() AS n FROM events GROUP BY event"}
    await application.call("POST", "/api/projects/1/endpoints/", {"name": "events", "query": query})
    trace = Trace()
    with trace.tracing():
        await application.call("POST", "/api/projects/1/endpoints/events/run", {})
    return trace


def destination(url: str) -> Any:
    """A function with inputs and a filter that sends each ``buy`` to a URL."""
    return {
        "type": "destination",
        "name": "Deliver",
        "hog": "let res := fetch(inputs.url, {'method': 'POST', 'body': inputs.body})",
        "inputs_schema": [
            {"key": "url", "type": "string", "required": True},
            {"key": "body", "type": "json"},
        ],
        "inputs": {"url": {"value": url}, "body": {"value": {"event": "{event.event}"}}},
        "filters": {"events": [{"id": "buy", "type": "events"}]},
        "enabled": True,
    }


async def trace_function(application: Application) -> Trace:
    """``POST …/hog_functions/`` of a destination with inputs and filters."""
    trace = Trace()
    with trace.tracing():
        await application.call(
            "POST", "/api/projects/1/hog_functions/", destination("https://hooks.example/in")
        )
    return trace


async def trace_delivery(application: Application) -> Trace:
    """An event from capture through the pipeline to the receiver of a destination."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/in"
    await application.call("POST", "/api/projects/1/hog_functions/", destination(url))
    event = {"event": "buy", "distinct_id": "ada", "properties": {}}
    trace, executor = Trace(), application.build_executor()
    with trace.tracing():
        await application.call("POST", "/batch/", {"api_key": TOKEN, "batch": [event]})
        await application.store_events()
        await application.deliver(executor)
    server.shutdown()
    return trace


ROUTES: dict[str, Callable[[Application], Awaitable[Trace]]] = {
    "endpoint": trace_endpoint,
    "function": trace_function,
    "delivery": trace_delivery,
}


async def trace_all(routes: list[str], *, lists_files: bool) -> None:
    """Trace and print, each route in an application of its own."""
    for name in routes:
        async with open_application() as application:
            trace = await ROUTES[name](application)
        sys.stdout.write(f"{name}: {len(trace.files)} files, {trace.switches} switches\n")
        for file, functions in trace.files.items() if lists_files else ():
            sys.stdout.write(f"  {file}  {len(functions)}: {', '.join(sorted(functions))}\n")


def main() -> None:
    """Trace the routes that the command line names, or all."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("routes", nargs="*", metavar="|".join(ROUTES))
    parser.add_argument("--files", action="store_true", help="list the files and functions")
    arguments = parser.parse_args()
    asyncio.run(trace_all(arguments.routes or list(ROUTES), lists_files=arguments.files))


if __name__ == "__main__":
    main()

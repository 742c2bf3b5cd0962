"""A start imports only what a server needs before its first request."""

import subprocess
import sys

LATER = {
    "aiohttp",  # the first outgoing request
    "alembic",  # a migration
    "fastapi",  # the console
    "mcp",
    "nicegui",  # the console
    "numpy",  # answers as Arrow or Parquet
    "opentelemetry",  # OTEL_EXPORTER_OTLP_ENDPOINT
    "prompt_toolkit",
    "pyarrow",
    "pygments",
    "rich",  # other commands
    "yaml",  # the first request for a template
}
# Only workers compile and run programs and queries.
COMPILERS = {
    "hoglet.functions.runtime.engine",
    "hoglet.hog.compile",
    "hoglet.hog.python.program",
    "hoglet.hogql.compile",
    "hoglet.hogql.functions.registry",
    "hoglet.hogql.insights.plan",
    "hoglet.syntax.parse",
}
START = """
import sys
sys.argv = ["hoglet", "serve"]
import hoglet.cli.entry
from hoglet.cli.main import COMMANDS
COMMANDS["serve"]
from hoglet.cli.server.serve import importing_server
with importing_server():
    import hoglet.app.run
from hoglet.app.http.routes import PROJECT_ROUTERS, ROUTERS
from hoglet.web.app import create_application
create_application(routers=ROUTERS, project_routers=PROJECT_ROUTERS)
print(*sys.modules)
"""


def _printed(program: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    return done.stdout.split()


def test_a_start_leaves_out_what_is_needed_later() -> None:
    loaded = {name.partition(".")[0] for name in _printed(START)}

    assert {"hoglet", "sqlalchemy", "starlette", "typer"} <= loaded
    assert loaded & LATER == set()


def test_a_start_imports_no_compiler() -> None:
    assert COMPILERS & set(_printed(START)) == set()


def test_garbage_is_collected_again_after_the_imports() -> None:
    program = """
import gc
from hoglet.cli.server.serve import importing_server
with importing_server():
    import json
print(gc.isenabled(), gc.get_freeze_count() > 1000)
"""

    assert _printed(program) == ["True", "True"]

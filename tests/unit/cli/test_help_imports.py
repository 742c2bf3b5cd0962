"""A help page imports the commands, not what they need when they run."""

import subprocess
import sys

LATER = {
    "aiohttp",
    "asyncio",
    "granian",
    "hoglet.app",
    "hoglet.hog.compile",
    "hoglet.hogql",
    "hoglet.settings",
    "pydantic",
    "sqlalchemy",
    "starlette",
    "yaml",
}


def test_a_help_page_imports_no_compiler_server_or_event_loop() -> None:
    program = "import sys, hoglet.cli.main; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )

    assert LATER & set(done.stdout.split()) == set()

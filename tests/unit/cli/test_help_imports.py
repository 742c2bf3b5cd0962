"""Help imports no other command, and a command not what it needs only when it runs."""

import subprocess
import sys

import pytest

from hoglet.cli.main import COMMANDS

LATER = {
    "aiohttp",
    "asyncio",
    "granian",
    "hoglet.app",
    "hoglet.hog.compile",
    "hoglet.hogql",
    "hoglet.settings",
    "sqlalchemy",
    "starlette",
    "yaml",
}
CALLED = """
import atexit, sys
atexit.register(lambda: print("imported", *sys.modules))
from hoglet.cli.entry import main
main()
"""


def _imported(*words: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", CALLED, *words], check=True, capture_output=True, text=True
    )
    return set(done.stdout.rpartition("imported ")[2].split())


def test_the_list_of_commands_imports_none_of_them() -> None:
    imported = _imported("--help")

    assert {name for name in imported if name.startswith("hoglet.cli.")} == {
        "hoglet.cli.application",
        "hoglet.cli.command_table",
        "hoglet.cli.entry",
        "hoglet.cli.error_handling",
        "hoglet.cli.exit_codes",
        "hoglet.cli.main",
        "hoglet.cli.old_spellings",
    }
    assert {"pydantic", "urllib.request", *LATER} & imported == set()


@pytest.mark.parametrize("name", ["serve", "test", "push", "functions", "admin"])
def test_the_help_of_a_command_imports_no_compiler_server_or_event_loop(name: str) -> None:
    imported = _imported(name, "--help")

    assert COMMANDS.entries[name].path.partition(":")[0] in imported
    assert LATER & imported == set()


def test_the_table_repeats_the_help_of_the_commands() -> None:
    for name, entry in COMMANDS.items():
        summary = " ".join(entry.help.partition("\n\n")[0].split())
        listed = COMMANDS.listed(name)

        assert (listed.name, listed.help, listed.hidden) == (name, summary, entry.hidden)

"""Every ``hoglet …`` that a page shows is a command with these arguments and options."""

import contextlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from hoglet.cli.main import app
from hoglet.cli.old_spellings import modern_spelling
from hoglet.project_files.folder import read_folder

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINE = re.compile(r"^(?:    |\$ )(?:[A-Z_]+=\S+ )*hoglet (?!serves )(.+)$", re.MULTILINE)
CODE = re.compile(r"`([^`\n]+)`")
COMMAND = re.compile(r"(?:[A-Z_]+=\S+ )*hoglet (.+)")
OPEN = re.compile(r"[…|\[<]|\.\.\.")  # a form, or a group of commands, rather than one
ROOT_COMMAND: Any = typer.main.get_command(app)


def commands_in(page: Path) -> Iterator[str]:
    text = page.read_text()
    for line in LINE.findall(text):
        yield re.split(r" (?:&&|\||#) ", line)[0]
    for code in CODE.findall(text):
        command = COMMAND.fullmatch(code)
        if command is not None and not OPEN.search(code):
            yield command[1]


def parse(line: str) -> None:
    """Parse as the command line does, without running anything.

    A command that is only named (``hoglet pull`` in a sentence) may lack its arguments.
    """
    command, context = ROOT_COMMAND, None
    words = modern_spelling(shlex.split(line)).words
    while hasattr(command, "commands") and words and not words[0].startswith("-"):
        assert words[0] in command.commands, f"there is no {words[0]}"
        settings = command.context_settings
        context = typer.Context(command, parent=context, info_name=words[0], **settings)
        command, words = command.commands[words[0]], words[1:]
    if words and not hasattr(command, "commands"):
        with contextlib.suppress(typer.Exit):  # after --help
            command.make_context(command.name, words, parent=context)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_of_a_page_exist(page: Path) -> None:
    wrong: list[str] = []
    for line in commands_in(page):
        try:
            parse(line)
        except Exception as error:  # noqa: BLE001 (AssertionError too: all that is wrong, at once)
            if not str(error).endswith("does not exist."):  # a path of an example
                wrong.append(f"hoglet {line}: {error}")
    assert wrong == []


def test_pages_show_many_commands() -> None:
    assert sum(len(list(commands_in(page))) for page in PAGES) > 100


def test_the_files_of_the_page_of_projects_can_be_read(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "project-files.md").read_text()
    function, draft, variables = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    folder = tmp_path / "functions/welcome-webhook"
    folder.mkdir(parents=True)
    (tmp_path / "hoglet.yaml").write_text("name: shop\n")
    (tmp_path / "variables.yaml").write_text(variables)
    (folder / "function.yaml").write_text(function)
    (folder / "code.hog").write_text("print(1)\n")
    (folder / "draft.yaml").write_text(draft)

    project = read_folder(tmp_path)
    assert set(project.objects["draft"]["Welcome webhook"]) == {"description", "retry"}
    assert project.objects["variable"]["plan"]["default"] == "pro"

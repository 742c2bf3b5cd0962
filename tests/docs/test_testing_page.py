"""The cases that docs/testing.md shows pass in the project that ``hoglet init`` makes."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hoglet.cli.main import app
from support.hoglet_process import run_hoglet

PAGE = (Path(__file__).parents[2] / "docs" / "testing.md").read_text()


@pytest.mark.slow
def test_the_examples_of_the_page_pass(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["init", str(tmp_path / "shop")])
    assert result.exit_code == 0, result.output
    function, endpoint = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    for name, text in (
        ("functions/welcome-webhook/tests.yaml", function),
        ("endpoints/by_plan.tests.yaml", endpoint),
    ):
        path = tmp_path / "shop" / name
        path.write_text(path.read_text() + text.replace("- name: waits", "- name: still waits"))

    ran = run_hoglet("test", "-C", str(tmp_path / "shop"))

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.splitlines()[-1] == "7 passed, 0 failed"
    again = CliRunner().invoke(app, ["init", str(tmp_path / "shop")])
    assert (again.exit_code, "is already a project" in again.stderr) == (2, True)

"""``hoglet test --watch``: runs again after each save, names wrong files, ends with Ctrl-C."""

import os
import signal
import subprocess
from pathlib import Path

from typer.testing import CliRunner

from hoglet.cli.main import app
from support.hoglet_process import HogletProcess
from support.watched_command import read_until


def test_cases_run_again_after_each_save_until_ctrl_c(tmp_path: Path) -> None:
    project = tmp_path / "shop"
    assert CliRunner().invoke(app, ["init", str(project)]).exit_code == 0
    folder = project / "functions" / "welcome-webhook"
    cases, code = folder / "tests.yaml", folder / "code.hog"
    cases.write_text("- name: greets\n  event: {event: plan_chosen}\n  expect: {logs: [/hello/]}\n")
    code.write_text("print('hello')\n")
    process = HogletProcess(
        ["test", "-C", str(project), "-k", "greets", "--watch"],
        env=os.environ | {"COLUMNS": "200"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        read_until(process, "1 passed, 0 failed")
        code.write_text("print('good evening')\n")
        failed = read_until(process, "0 passed, 1 failed")
        assert any("greets" in line for line in failed)
        code.write_text("print('good\n")
        read_until(process, "code.hog:1:")
        cases.write_text("- name: greets\n  events: {}\n")
        code.write_text("print('hello again')\n")
        read_until(process, "tests.yaml:")
        cases.write_text(
            "- name: greets\n  event: {event: plan_chosen}\n  expect: {logs: [/again/]}\n"
        )
        read_until(process, "1 passed, 0 failed")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        assert process.returncode == 0
    finally:
        process.kill()

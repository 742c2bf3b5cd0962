"""``hoglet dev``: serves a project, applies each save, shows what is wrong, ends with Ctrl-C."""

import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hoglet.cli.main import app
from support.hoglet_process import HogletProcess
from support.waiting import wait_for
from support.watched_command import read_until


@pytest.mark.parametrize("command", ["dev", "demo"])
def test_a_port_in_use_is_refused(tmp_path: Path, command: str) -> None:
    """Another hoglet on this port would answer the health checks and receive the project."""
    project = tmp_path / "shop"
    assert CliRunner().invoke(app, ["init", str(project)]).exit_code == 0
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        words = {
            "dev": ["dev", "-C", str(project), "--port", port],
            "demo": ["demo", "--once", "--port", port],
        }
        result = CliRunner().invoke(app, words[command])

    assert result.exit_code == 2, result.output
    assert f"Port {port} of 127.0.0.1 is in use" in result.output


def test_saves_are_applied_until_ctrl_c(tmp_path: Path) -> None:
    project = tmp_path / "shop"
    assert CliRunner().invoke(app, ["init", str(project)]).exit_code == 0
    process = HogletProcess(
        ["dev", "-C", str(project), "--port", "0", "--no-tests"],
        env=os.environ | {"COLUMNS": "200"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        started = read_until(process, "applied: create endpoint by_plan")
        assert any("personal API key  phx_" in line for line in started)
        code = project / "functions" / "welcome-webhook" / "code.hog"
        code.write_text("let x :=\n")
        read_until(process, "code.hog:1:")
        code.write_text("print('hi')\n")
        endpoint = project / "endpoints" / "by_plan.yaml"
        before = endpoint.read_text()
        endpoint.write_text("query: |\n  select 1,\n    nope(2)\n")
        read_until(process, "endpoints/by_plan.yaml:3: update endpoint by_plan: ")
        endpoint.write_text(before)
        code.write_text("print('hello')\n")
        read_until(process, "applied: update function Welcome webhook: hog")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        assert process.returncode == 0
    finally:
        process.kill()


@pytest.mark.slow  # starts a server and a warehouse
def test_ctrl_c_during_the_tests_leaves_no_folder(tmp_path: Path) -> None:
    project, temporary = tmp_path / "shop", tmp_path / "tmp"
    temporary.mkdir()
    assert CliRunner().invoke(app, ["init", str(project)]).exit_code == 0
    process = HogletProcess(
        ["dev", "-C", str(project), "--port", "0"],
        env=os.environ | {"TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        wait_for(lambda: list(temporary.glob("hoglet-test-*/warehouse")), seconds=120)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        assert process.returncode == 0
        assert list(temporary.iterdir()) == []
    finally:
        process.kill()

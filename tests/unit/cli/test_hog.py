"""``hoglet hog``: output, exit codes and messages that scripts rely on."""

import json
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hoglet.cli.hog.repl import Session, is_open
from hoglet.cli.main import app
from support.hoglet_process import run_hoglet

runner = CliRunner()


@pytest.fixture
def hog(tmp_path: Path):
    def write(source: str, name: str = "program.hog") -> str:
        path = tmp_path / name
        path.write_text(source, encoding="utf-8")
        return str(path)

    return write


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return run_hoglet("hog", *words)


def test_run_prints_on_standard_output(hog) -> None:
    ran = command(
        "run", hog("print('é', event.n)"), "--globals", hog('{"event": {"n": 2}}', "g.json")
    )

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "é 2\n", "")


def test_half_a_character_is_written_as_unknown(hog) -> None:
    ran = command("run", hog("print(substring('💩', 1, 1))\nthrow Error(substring('💩', 2, 1))"))

    assert (ran.returncode, ran.stdout, ran.stderr) == (1, "\ufffd\n", "Error('\ufffd')\n")


def test_host_functions_are_not_there(hog) -> None:
    ran = command("run", hog("try { fetch('x') } catch { print('caught') }"))

    assert (ran.returncode, ran.stderr) == (1, "Unsupported function call: fetch\n")


def test_uncaught_error_goes_to_standard_error_with_exit_1(hog) -> None:
    ran = command("run", hog("print(1)\nthrow Error('boom')"))

    assert (ran.returncode, ran.stdout, ran.stderr) == (1, "1\n", "Error('boom')\n")


def test_compile_error_has_its_place_and_exit_2(hog) -> None:
    ran = command("run", hog("let a := 1\n  let a := 2"))

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == "2:3: Variable `a` already declared in this scope\n"


def test_missing_file_and_bad_globals_exit_2(hog) -> None:
    assert runner.invoke(app, ["hog", "run", "no such file.hog"]).exit_code == 2
    for text in ["[1]", "{"]:
        arguments = ["hog", "run", hog("1"), "--globals", hog(text, "g.json")]
        assert runner.invoke(app, arguments).exit_code == 2


def test_compile_prints_each_form(hog) -> None:
    path = hog("print(1)")

    assert json.loads(runner.invoke(app, ["hog", "compile", path]).stdout)[:2] == ["_H", 1]
    assert "print(1);" in runner.invoke(app, ["hog", "compile", path, "--to", "javascript"]).stdout
    assert "def " in runner.invoke(app, ["hog", "compile", path, "--to", "python"]).stdout


def test_disassemble_takes_programs_and_bytecode(hog) -> None:
    from_source = runner.invoke(app, ["hog", "disassemble", hog("1")])
    from_json = runner.invoke(app, ["hog", "disassemble", hog('["_H", 1, 33, 1, 35]', "b.json")])

    assert from_source.stdout == from_json.stdout == "0002  INTEGER 1\n0004  POP\n"


def test_check_reports_errors_and_warnings(hog) -> None:
    bad = runner.invoke(app, ["hog", "check", hog("let a := 1 let a := 2\nb := 1")])
    odd = runner.invoke(app, ["hog", "check", hog("prnt(1)")])
    known = runner.invoke(app, ["hog", "check", hog("mine(1)"), "--known", "mine"])

    assert bad.exit_code == 2
    assert bad.stderr.count("error:") == 2
    assert odd.exit_code == 0
    assert "1:1: warning: Unknown function `prnt` (Did you mean `print`?)" in odd.stderr
    assert known.stderr == ""


def test_bench_prints_json_and_compares_output(hog) -> None:
    path = hog("print(1 + 1)", "sum.hog")
    good = runner.invoke(app, ["hog", "bench", path, "--json"])
    hog("3\n", "sum.stdout")
    bad = runner.invoke(app, ["hog", "bench", path, "--json"])

    assert json.loads(good.stdout)["sum"] >= 0
    assert bad.exit_code == 1


def test_fmt_rewrites_or_checks(hog) -> None:
    path = hog("let   a:=1 // kept")

    assert runner.invoke(app, ["hog", "fmt", "--check", path]).exit_code == 1
    assert runner.invoke(app, ["hog", "fmt", path]).exit_code == 0
    assert Path(path).read_text() == "let a := 1  // kept\n"
    assert runner.invoke(app, ["hog", "fmt", "--check", path]).exit_code == 0


def test_repl_session_remembers_and_shows_values() -> None:
    session = Session({"event": {"n": 1}})

    assert session.enter("let a := 1") == []
    assert session.enter("a + event.n") == ["2"]
    assert session.enter("throw Error('x')") == ["Error('x')"]
    assert session.enter("let r := randomFloat()") == []
    assert session.enter("r") == session.enter("r")
    assert session.enter("a := 5") == []
    assert session.enter("print('say', a)") == ["say 5"]
    assert session.enter("let a := 2") == ["Variable `a` already declared in this scope"]
    assert {"a", "event", "print", "while"} <= set(session.names())


@pytest.mark.parametrize(
    ("text", "expected"),
    [("fun f() {", True), ("print(", True), ("1 + 1", False), ("a := )", False), ("", False)],
)
def test_open_entries_go_on(text: str, expected: bool) -> None:
    assert is_open(text) is expected

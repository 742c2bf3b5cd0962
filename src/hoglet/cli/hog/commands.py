"""``hoglet hog``: run, compile, check, format and measure Hog programs.

What scripts rely on: output of ``print`` on stdout; an uncaught error on stderr with exit 1; a
compile error as ``line:column: message`` on stderr with exit 2.
"""

import json
import statistics
import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from hoglet.kit.errors import SourceError
from hoglet.kit.json import JsonObject, encode_utf8, replace_surrogates

hog_app = typer.Typer(help="Run, compile and check Hog programs.", no_args_is_help=True)

_JSON_NAMES: dict[type, str] = {dict: "object", list: "array"}
FAILED = 1
DOES_NOT_COMPILE = 2

SourceFile = Annotated[Path, typer.Argument(help="A .hog file; - for standard input.")]
GlobalsFile = Annotated[
    Path | None, typer.Option("--globals", help="A JSON file with the globals, an object.")
]


class OutputFormat(StrEnum):
    """What ``compile`` prints."""

    BYTECODE = "bytecode"
    PYTHON = "python"
    JAVASCRIPT = "javascript"


@hog_app.command()
def run(file: SourceFile, globals_file: GlobalsFile = None) -> None:
    """Run a program; exits with 1 on an uncaught error, 2 if it does not compile."""
    from hoglet.hog.python.run_to_end import run_program

    source = read_source(file)
    values = read_globals(globals_file)
    try:
        outcome = run_program(source, globals=values, on_print=_write_line)
    except SourceError as error:
        fail_to_compile(error)
        return
    sys.stdout.flush()
    if outcome.error is not None:
        print(replace_surrogates(outcome.error.text), file=sys.stderr)
        raise typer.Exit(FAILED)


def _write_line(text: str) -> None:
    sys.stdout.buffer.write(encode_utf8(text) + b"\n")


@hog_app.command()
def bench(
    files: Annotated[list[Path], typer.Argument(help="Hog files.")],
    globals_file: GlobalsFile = None,
    as_json: Annotated[
        bool, typer.Option("--json", help='Print only {"<file stem>": median ms}.')
    ] = False,
) -> None:
    """Measure warm runs of programs that are compiled once, with all budgets.

    The output is compared with <file stem>.stdout in the same folder, if it exists.
    """
    medians: dict[str, float] = {}
    for file in files:
        try:
            medians[file.stem] = measure(file, read_source(file), read_globals(globals_file))
        except SourceError as error:
            fail_to_compile(error)
        except ValueError as error:
            print(str(error), file=sys.stderr)
            raise typer.Exit(FAILED) from None
    if as_json:
        print(json.dumps(medians))
        return
    for stem, median in medians.items():
        print(f"{median:10.3f} ms  {stem}")


@hog_app.command()
def fmt(
    files: Annotated[list[Path], typer.Argument(help="Hog files; - for standard input.")],
    check_only: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit with 1 if a file would change.")
    ] = False,
) -> None:
    """Format programs in place, or standard input to standard output."""
    from hoglet.hog.format import format_program

    changed = False
    for file in files:
        source = read_source(file)
        try:
            formatted = format_program(source)
        except SourceError as error:
            print(f"{file}:{error}", file=sys.stderr)
            raise typer.Exit(DOES_NOT_COMPILE) from None
        changed = changed or formatted != source
        if str(file) == "-":
            print(formatted, end="")
        elif formatted != source and not check_only:
            file.write_text(formatted, encoding="utf-8")
            print(f"formatted {file}")
        elif formatted != source:
            print(f"would format {file}")
    raise typer.Exit(FAILED if check_only and changed else 0)


@hog_app.command()
def repl(globals_file: GlobalsFile = None) -> None:
    """Interactive session with history and completion; Ctrl-D ends."""
    from hoglet.cli.hog.repl import start

    start(read_globals(globals_file))


@hog_app.command()
def compile(  # noqa: A001 (the name of the command)
    file: SourceFile,
    to: Annotated[OutputFormat, typer.Option(help="Output form.")] = OutputFormat.BYTECODE,
) -> None:
    """Print a program as bytecode (JSON), Python or JavaScript."""
    from hoglet.hog.compile import compile_program

    source = read_source(file)
    try:
        program = compile_program(source)
        print(_print_as(to, program))
    except SourceError as error:
        fail_to_compile(error)


def _print_as(target: OutputFormat, program: Any) -> str:
    if target is OutputFormat.PYTHON:
        from hoglet.hog.python.program import compile_python

        return compile_python(program).source.rstrip("\n")
    if target is OutputFormat.JAVASCRIPT:
        from hoglet.hog.javascript import program_javascript

        return program_javascript(program).rstrip("\n")
    from hoglet.hog.bytecode import program_bytecode

    return json.dumps(program_bytecode(program), ensure_ascii=False)


@hog_app.command()
def disassemble(file: SourceFile) -> None:
    """List the opcodes of a program, or of bytecode in a .json file."""
    from hoglet.hog.bytecode import program_bytecode
    from hoglet.hog.compile import compile_program
    from hoglet.hog.disassemble import disassemble as listing

    source = read_source(file)
    try:
        if file.suffix == ".json":
            print(listing(_parse_json(file, source, list)), end="")
        else:
            print(listing(program_bytecode(compile_program(source))), end="")
    except SourceError as error:
        fail_to_compile(error)


@hog_app.command()
def check(
    files: Annotated[list[Path], typer.Argument(help="Hog files.")],
    global_names: Annotated[
        str,
        typer.Option(
            "--known", help="Comma-separated names of further globals that the host provides."
        ),
    ] = "",
) -> None:
    """Compile without running; print every error and warning with its position."""
    from hoglet.hog.compile import DEFAULT_GLOBALS, compile_program

    known = DEFAULT_GLOBALS | {name.strip() for name in global_names.split(",") if name.strip()}
    failed = False
    for file in files:
        try:
            program = compile_program(read_source(file), known_globals=known)
        except SourceError as error:
            failed = True
            _complain(file, "error", getattr(error, "errors", (error,)))
        else:
            _complain(file, "warning", program.warnings)
    raise typer.Exit(DOES_NOT_COMPILE if failed else 0)


def _complain(file: Path, kind: str, complaints: Any) -> None:
    for complaint in complaints:
        hint = f" ({complaint.hint})" if complaint.hint else ""
        print(
            f"{file}:{complaint.line}:{complaint.column}: {kind}: {complaint.message}{hint}",
            file=sys.stderr,
        )


def read_source(file: Path) -> str:
    """The text of ``file``, or of standard input for ``-``; exits with 2 if it is unreadable."""
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or error
        print(f"Cannot read {file}: {why}", file=sys.stderr)
        raise typer.Exit(DOES_NOT_COMPILE) from None


def read_globals(file: Path | None) -> JsonObject:
    """The globals in a JSON file; exits with 2 if it is not an object."""
    if file is None:
        return {}
    return _parse_json(file, read_source(file), dict)


def _parse_json[Kind](file: Path, text: str, kind: type[Kind]) -> Kind:
    """JSON of the expected kind; exits with 2 if it is something else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        print(f"{file} is not JSON: {error}", file=sys.stderr)
        raise typer.Exit(DOES_NOT_COMPILE) from None
    if not isinstance(value, kind):
        print(f"{file} must contain a JSON {_JSON_NAMES[kind]}", file=sys.stderr)
        raise typer.Exit(DOES_NOT_COMPILE)
    return value


def fail_to_compile(error: SourceError) -> None:
    """Print each error as ``line:column: message`` and exit with 2; ``check`` adds hints."""
    for each in getattr(error, "errors", (error,)):
        print(str(each), file=sys.stderr)
    raise typer.Exit(DOES_NOT_COMPILE)


_MIN_RUNS = 5
_MAX_RUNS = 200
_ENOUGH_S = 2.0


def measure(file: Path, source: str, values: JsonObject) -> float:
    """Median milliseconds of a warm run of ``source`` with the default budget.

    As in the server, results may share parts of the globals, and these are tested before.

    Args:
        file: its path; ``<stem>.stdout`` next to it contains the expected output.
        source: the program.
        values: the globals.

    Raises:
        SourceError: it does not compile.
        ValueError: it fails, or its output differs from the expected one.
    """
    from hoglet.hog.compile import compile_program
    from hoglet.hog.python.execution import Execution
    from hoglet.hog.python.program import compile_python
    from hoglet.hog.python.run_to_end import run_program, run_to_end
    from hoglet.hog.runtime.settled_data import is_settled

    program = compile_python(compile_program(source))
    _check(file, run_program(program, globals=values))
    settled = is_settled(values)
    times: list[float] = []
    while len(times) < _MIN_RUNS or (len(times) < _MAX_RUNS and sum(times) < _ENOUGH_S):
        lines: list[str] = []
        start = time.perf_counter()
        run_to_end(
            Execution(
                program,
                globals=values,
                on_print=lines.append,
                shares_data=True,
                is_settled=settled,
            )
        )
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


def _check(file: Path, outcome: Any) -> None:
    if outcome.error is not None:
        raise ValueError(f"{file}: {outcome.error.text}")
    expected = file.with_suffix(".stdout")
    if not expected.exists():
        return
    printed = "".join(f"{replace_surrogates(line)}\n" for line in outcome.lines)
    if printed != expected.read_text(encoding="utf-8"):
        raise ValueError(f"{file}: its output differs from {expected.name}")

"""Times the programs of this folder: hoglet, the official VM in Node, hand-written Python.

All three run warm in one session, with budgets on; the figure is the median of the rounds. Before
anything is timed, the three outputs are compared. Run ``make bench-hog`` (or this file).

The limit is the faster of two: the same program written in Python by hand, which generated Python
is unlikely to beat, and the generated code without its budget checks.

Not measured: starting processes, waiting for hosts.
"""

import argparse
import importlib.util
import json
import math
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
from benchmarks.hog import batches, compiling

from hoglet.hog.bytecode import program_bytecode
from hoglet.hog.compile import compile_program
from hoglet.hog.python.execution import Execution
from hoglet.hog.python.program import CompiledProgram, compile_python
from hoglet.hog.python.steps import Failed
from hoglet.hog.runtime.settled_data import is_settled

HERE = Path(__file__).parent
ORACLE = HERE.parent.parent / "tests" / "oracle"


def programs(names: list[str]) -> list[Path]:
    paths = sorted((HERE / "programs").glob("*.hog"))
    return [path for path in paths if not names or path.stem in names]


def globals_of(path: Path) -> dict:
    given = path.with_suffix(".globals.json")
    return json.loads(given.read_text()) if given.exists() else {}


CHECK = "if d > LIMIT: check(d)"


def compiled(path: Path) -> CompiledProgram:
    return compile_python(compile_program(path.read_text()))


def unchecked(path: Path) -> CompiledProgram:
    """The program without its budget checks, to measure their cost."""
    program = compiled(path)
    careful = program.careful and program.careful.replace(CHECK, "pass")
    return msgspec.structs.replace(
        program, source=program.source.replace(CHECK, "pass"), careful=careful
    )


def time_hoglet(path: Path, program: CompiledProgram, rounds: int) -> tuple[float, list[str]]:
    given = globals_of(path)
    settled = is_settled(given)
    lines: list[str] = []

    def run() -> None:
        lines.clear()
        step = Execution(
            program, globals=given, on_print=lines.append, shares_data=True, is_settled=settled
        ).start()
        if isinstance(step, Failed):
            sys.exit(f"{path.stem}: {step.error.text}")

    return median(run, rounds), lines


def time_python(path: Path, rounds: int) -> tuple[float, list[str]]:
    name = f"bench_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path.with_suffix(".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    lines: list[str] = []

    def run() -> None:
        lines.clear()
        module.main(lines.append)

    return median(run, rounds), lines


def median(run, rounds: int) -> float:
    for _ in range(max(rounds // 4, 3)):
        run()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


def time_machine(paths: list[Path], rounds: int) -> dict:
    node = shutil.which("node")
    if node is None or not (ORACLE / "node_modules").exists():
        return {}
    jobs = {
        path.stem: {
            "bytecode": program_bytecode(compile_program(path.read_text())),
            "globals": globals_of(path),
        }
        for path in paths
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(jobs, file)
        file.flush()
        command = [node, str(HERE / "vm.mjs"), file.name, str(ORACLE), str(rounds)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="programs, without .hog; all by default")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    paths = programs(options.names)
    machine = time_machine(paths, options.rounds)
    rows = []
    for path in paths:
        ours, printed = time_hoglet(path, compiled(path), options.rounds)
        bare, _ = time_hoglet(path, unchecked(path), options.rounds)
        python, expected = time_python(path, options.rounds)
        official = machine.get(path.stem)
        if printed != expected or (official and official["output"] != expected):
            sys.exit(f"{path.stem}: outputs differ: {printed} {expected} {official}")
        rows.append(
            (path.stem, ours, official and official["milliseconds"], python, min(bare, python))
        )
    report(rows, as_json=options.json)
    if not options.json and not options.names:
        compiling.report()
        batches.report()


def report(rows: list, *, as_json: bool) -> None:
    speedups = [official / ours for _, ours, official, *_ in rows if official]
    mean = math.exp(statistics.fmean(map(math.log, speedups))) if speedups else None
    if as_json:
        names = ("program", "hoglet_ms", "machine_ms", "python_ms", "limit_ms")
        body = [dict(zip(names, row, strict=True)) for row in rows]
        print(json.dumps({"programs": body, "times_faster": mean}))
        return
    print(f"Python {platform.python_version()}, {platform.machine()}; milliseconds, medians")
    heads = ("program", "hoglet", "machine", "python", "x machine", "/ python", "/ limit")
    print("{:15} {:>9} {:>9} {:>9} {:>10} {:>9} {:>9}".format(*heads))
    for name, ours, official, python, limit in rows:
        times = f"{official / ours:10.1f}" if official else " " * 10
        official_text = f"{official:9.3f}" if official else " " * 9
        ratios = f"{ours / python:9.2f} {ours / limit:9.2f}"
        print(f"{name:15} {ours:9.3f} {official_text} {python:9.3f} {times} {ratios}")
    if mean:
        print(f"geometric mean: {mean:.1f} times the official machine; lowest {min(speedups):.1f}")


if __name__ == "__main__":
    main()

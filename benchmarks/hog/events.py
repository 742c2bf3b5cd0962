"""Short event-shaping programs: hoglet, the official VM in Node, hand-written Python.

Each program of ``events/`` runs on one event with sixty properties. A run is timed whole: its
start, its work and the result as plain data, which may share parts of the event, as in the server.
Figures are microseconds of processor time, warm, the lowest of several batches. Results and printed
lines are compared before anything is timed.
"""

import argparse
import importlib.util
import json
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hoglet.hog.bytecode import program_bytecode
from hoglet.hog.compile import compile_program
from hoglet.hog.python.execution import Execution
from hoglet.hog.python.program import CompiledProgram, compile_python
from hoglet.hog.python.steps import Finished
from hoglet.hog.runtime.settled_data import is_settled

HERE = Path(__file__).parent
PROGRAMS = HERE / "events"
GLOBALS = PROGRAMS / "globals.json"
ORACLE = HERE.parent.parent / "tests" / "oracle"
BATCHES, BATCH_S = 7, 0.03


def sources(names: list[str]) -> dict[str, str]:
    """The programs, by name."""
    paths = sorted(PROGRAMS.glob("*.hog"))
    return {path.stem: path.read_text() for path in paths if not names or path.stem in names}


def run_hoglet(
    program: CompiledProgram, given: dict[str, Any], lines: list[str], *, settled: bool
) -> Any:
    """One run, as the engine starts it."""
    step = Execution(
        program, globals=given, on_print=lines.append, shares_data=True, is_settled=settled
    ).start()
    if not isinstance(step, Finished):
        raise SystemExit(f"a program did not finish: {step}")
    return step.result


def by_hand(name: str) -> Callable[[dict[str, Any]], Any]:
    """The function ``main(globals)`` of the same program written in Python."""
    spec = importlib.util.spec_from_file_location(f"events_{name}", PROGRAMS / f"{name}.py")
    if spec is None or spec.loader is None:
        raise SystemExit(f"{name}.py is missing")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main


def microseconds(*actions: Callable[[], Any]) -> list[float]:
    """Processor time of one call of each, measured in alternating batches."""
    many: list[int] = []
    for action in actions:
        calls, start = 0, time.process_time()
        while time.process_time() - start < BATCH_S:
            for _ in range(20):
                action()
            calls += 20
        many.append(calls)
    best = [math.inf] * len(actions)
    for _ in range(BATCHES):
        for index, action in enumerate(actions):
            start = time.process_time()
            for _ in range(many[index]):
                action()
            spent = (time.process_time() - start) / many[index]
            best[index] = min(best[index], spent * 1e6)
    return best


def machine(texts: dict[str, str]) -> dict[str, Any]:
    """The results of the official VM; empty without Node."""
    node = shutil.which("node")
    if node is None or not (ORACLE / "node_modules").exists():
        return {}
    jobs = {name: program_bytecode(compile_program(text)) for name, text in texts.items()}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(jobs, file)
        file.flush()
        command = [node, str(HERE / "events_vm.mjs"), file.name, str(GLOBALS), str(ORACLE)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def measure(names: list[str]) -> list[tuple[str, float, float | None, float]]:
    """Program, and the microseconds of hoglet, the official VM and Python."""
    texts, given = sources(names), json.loads(GLOBALS.read_text())
    settled = is_settled(given)
    official, rows = machine(texts), []
    for name, text in texts.items():
        program, main, lines = compile_python(compile_program(text)), by_hand(name), list[str]()
        result = run_hoglet(program, given, lines, settled=settled)
        if result != main(given):
            raise SystemExit(f"{name}: {result} is not {main(given)}")
        answer = official.get(name)
        if answer and (result != answer["result"] or lines != answer["output"]):
            raise SystemExit(f"{name}: {result}, {lines} is not {answer}")

        def run(program: CompiledProgram = program, lines: list[str] = lines) -> None:
            lines.clear()
            run_hoglet(program, given, lines, settled=settled)

        ours, python = microseconds(run, lambda main=main: main(given))
        rows.append((name, ours, answer and answer["microseconds"], python))
    return rows


def report(rows: list[tuple[str, float, float | None, float]]) -> None:
    """Print the table, the geometric mean and the lowest ratio."""
    print("short programs on an event: microseconds of processor time, whole runs")
    heads = ("program", "hoglet", "machine", "python", "x machine", "/ python")
    print("{:18} {:>9} {:>9} {:>9} {:>10} {:>9}".format(*heads))
    for name, ours, official, python in rows:
        times = f"{official / ours:10.1f}" if official else " " * 10
        official_text = f"{official:9.1f}" if official else " " * 9
        print(f"{name:18} {ours:9.1f} {official_text} {python:9.1f} {times} {ours / python:9.2f}")
    speedups = [official / ours for _, ours, official, _ in rows if official]
    if speedups:
        mean = math.exp(statistics.fmean(map(math.log, speedups)))
        print(f"geometric mean: {mean:.1f} times the official machine; lowest {min(speedups):.1f}")


def main() -> None:
    """Time the named programs, by default all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="programs, without .hog; all by default")
    report(measure(parser.parse_args().names))
    sys.stdout.flush()


if __name__ == "__main__":
    main()

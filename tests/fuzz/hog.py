"""Fuzzes the Hog engine with mutated programs: ``make fuzz``.

Programs run in a child process of limited address space. What is a failure: an exception that is
not ours, an internal error, a process that dies, a run that goes on after its deadline, memory
that grows. A parse that takes more than five seconds is none: the server parses in a process that
it kills then (docs/spec/hog-language.md#13-parser); it is counted.

    python -m fuzz.hog [--count 100000] [--seed NUMBER]      in the folder tests
"""

import argparse
import collections
import functools
import json
import os
import random
import resource
import select
import signal
import sys
import time
import traceback

from support.hog_fuzz import damaged_program, try_program

STALLED_S = 20
ADDRESS_SPACE = 3 * 1024**3


def child(seed: int, first: int, end: int, write: int) -> None:
    """Try programs and report how each went, as a line of JSON."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))

    def report(*what: object) -> None:
        os.write(write, json.dumps(what).encode() + b"\n")

    for number in range(first, end):
        report("parse", number)
        try:
            on_run = functools.partial(report, "run", number)
            report(try_program(damaged_program(seed, number), on_run), number)
        except BaseException:  # noqa: BLE001 (what is searched for)
            report("BROKEN", number, traceback.format_exc(limit=-4))


class Search:
    """One search, in one child process after the other."""

    def __init__(self, seed: int, count: int) -> None:
        self.seed, self.count = seed, count
        self.counts = collections.Counter()
        self.faults: list[tuple[int, str]] = []
        self.number, self.stage, self.started = -1, "", time.monotonic()

    def run(self) -> None:
        """All programs, whatever happens to the children."""
        while self.number + 1 < self.count:
            read, write = os.pipe()
            process = os.fork()
            if process == 0:
                os.close(read)
                child(self.seed, self.number + 1, self.count, write)
                os._exit(0)
            os.close(write)
            stalled = self._listen(read)
            if stalled:
                os.kill(process, signal.SIGKILL)
            os.close(read)
            _, status = os.waitpid(process, 0)
            self._ended(status, stalled=stalled)

    def _listen(self, read: int) -> bool:
        buffer = b""
        while select.select([read], [], [], STALLED_S)[0]:
            data = os.read(read, 65536)
            if not data:
                return False
            *lines, buffer = (buffer + data).split(b"\n")
            for line in lines:
                self._note(*json.loads(line))
        return True

    def _note(self, what: str, number: int, text: str = "") -> None:
        self.stage, self.number = what, number
        if what in {"parse", "run"}:
            return
        self.counts[what] += 1
        if what == "BROKEN":
            self._fault(text)
        if number % 100 == 99 or number + 1 == self.count:
            self._show()

    def _ended(self, status: int, *, stalled: bool) -> None:
        if self.stage == "parse" and stalled:
            self.counts["stopped while parsing"] += 1
        elif stalled or status:
            self._fault(f"{'hung' if stalled else f'died ({status})'} in stage {self.stage}")

    def _fault(self, text: str) -> None:
        self.faults.append((self.number, text))
        source = damaged_program(self.seed, self.number)
        sys.stdout.write(f"\nprogram {self.number}: {text}\n--- {source!r}\n")

    def _show(self) -> None:
        done, seconds = self.number + 1, time.monotonic() - self.started
        bar = "#" * (30 * done // self.count)
        print(
            f"\r[{bar:30}] {done:,} of {self.count:,}  {done / seconds:.0f}/s  "
            f"faults {len(self.faults)}",
            end="" if sys.stdout.isatty() else "\n",
            flush=True,
        )


def main() -> int:
    """Search; exit status 1 if anything was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    options = parser.parse_args()
    print(f"{options.count:,} programs, seed {options.seed}", flush=True)
    search = Search(options.seed, options.count)
    search.run()
    figures = ", ".join([f"{count:,} {what}" for what, count in search.counts.most_common()])
    print(f"\nseed {options.seed}: {figures}; {len(search.faults)} faults")
    return bool(search.faults)


if __name__ == "__main__":
    sys.exit(main())

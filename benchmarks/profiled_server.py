"""``hoglet serve`` that samples the processor time of its own threads, by stage.

It samples while ``<data>/profile`` exists, and writes ``<data>/stages.json`` afterwards.
"""

import contextlib
import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.stages import StageSampler

from support.server import RunningServer


class ProfiledServer(RunningServer):
    """A server whose module calls :func:`serve_profiled`."""

    _workers_began = 0.0

    def begin(self) -> None:
        """Start sampling."""
        (self.data_dir / "profile").touch()
        wait_for(self.data_dir / "begun")
        self._workers_began = self._workers_seconds()

    def end(self) -> tuple[Counter[str], float]:
        """The server's seconds by stage since :meth:`begin`, and those of its workers."""
        workers_s = self._workers_seconds() - self._workers_began
        (self.data_dir / "profile").unlink()
        wait_for(self.data_dir / "stages.json")
        return Counter(json.loads((self.data_dir / "stages.json").read_text())), workers_s

    def _workers_seconds(self) -> float:
        """Processor time of the server's child processes."""
        ticks = 0
        for entry in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                fields = entry.read_text().rpartition(")")[2].split()
                if self.process is not None and int(fields[1]) == self.process.pid:
                    ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")


def serve_profiled(
    stages: Mapping[str, str], at_end: Callable[[Path], None] = lambda _folder: None
) -> None:
    """Run the command and sample it; ``at_end`` may write more into the data folder."""
    from hoglet.cli.entry import main

    folder = Path(os.environ["HOGLET_DATA_DIR"])

    def sample() -> None:
        wait_for(folder / "profile")
        sampler = StageSampler(stages)
        sampler.start()
        (folder / "begun").touch()
        while (folder / "profile").exists():
            time.sleep(0.05)
        sampler.stop()
        sampler.seconds.pop("sampling", None)
        sampler.seconds["engine and other threads"] = max(sampler.other_s, 0.0)
        at_end(folder)
        (folder / "stages.tmp").write_text(json.dumps(sampler.seconds))
        (folder / "stages.tmp").rename(folder / "stages.json")

    threading.Thread(target=sample, daemon=True).start()
    main()


def wait_for(path: Path) -> None:
    """Wait until a file exists."""
    while not path.exists():
        time.sleep(0.05)


def show(title: str, figures: Mapping[str, float]) -> None:
    """Print a table, the largest figure first."""
    print(f"\n{title}")
    for name, figure in sorted(figures.items(), key=lambda pair: -pair[1]):
        print(f"  {name:45}{figure:8.1f}")
    print(f"  {'sum':45}{sum(figures.values()):8.1f}")

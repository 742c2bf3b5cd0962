"""Runs the benchmarks one after another; each prints ratios measured in one session.

Run: ``make bench``, or one of them by ``make bench-hog``, ``make bench-capture`` and so on.
"""

import subprocess
import sys

BENCHMARKS = (
    "benchmarks.start",
    "benchmarks.idle",
    "benchmarks.hog.compare",
    "benchmarks.hog.events",
    "benchmarks.capture",
    "benchmarks.runs",
    "benchmarks.growth",
    "benchmarks.matching",
    "benchmarks.isolation",
    "benchmarks.two_servers",
    "benchmarks.large_answers",
    "benchmarks.query_api",
    "benchmarks.insights",
    "benchmarks.endpoints",
)


def main() -> int:
    """Run all benchmarks; returns the highest exit status."""
    worst = 0
    for module in BENCHMARKS:
        print(f"\n== {module}", flush=True)
        worst = max(worst, subprocess.run([sys.executable, "-m", module], check=False).returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main())

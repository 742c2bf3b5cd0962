"""Commands that run until Ctrl-C: their output line by line, and the signal that ends them."""

import signal
import subprocess


def can_be_interrupted() -> None:
    """Restore SIGINT: children of a test run in the background ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def read_until(process: "subprocess.Popen[str]", text: str) -> list[str]:
    """The lines of output up to the one that contains the text."""
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line)
        if text in line:
            return lines
    raise AssertionError(f"{text} never came: {lines}")

"""Reads YAML tables of cases, each once per process."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml


@cache
def read_table(path: Path) -> Any:
    """The content of a file, read by the C loader (ten times as fast) and shared by all callers."""
    return yaml.load(path.read_bytes(), yaml.CSafeLoader)

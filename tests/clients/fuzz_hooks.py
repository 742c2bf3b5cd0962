"""Hooks of schemathesis: most requests go to what was seeded, or they would all be 404.

``HOGLET_FUZZ_SEEDED`` holds values by name of the path parameter, as JSON.
"""

import hashlib
import json
import os
from typing import Any

import schemathesis

SEEDED: dict[str, list[str]] = json.loads(os.environ["HOGLET_FUZZ_SEEDED"])


@schemathesis.hook
def map_path_parameters(_context: Any, path_parameters: dict[str, Any] | None) -> Any:
    """Three of four times a seeded value; which one follows from the generated one."""
    if not path_parameters:
        return path_parameters
    return {name: _seeded(name, value) for name, value in path_parameters.items()}


def _seeded(name: str, value: Any) -> Any:
    known = SEEDED.get(name)
    if not known:
        return value
    draw = hashlib.sha256(repr(value).encode()).digest()
    return value if draw[0] % 4 == 0 else known[draw[1] % len(known)]

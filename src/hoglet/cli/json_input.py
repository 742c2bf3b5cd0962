"""JSON option values: inline, as the path of a file, or on standard input."""

import json
import sys
from pathlib import Path

from hoglet.cli.error_handling import BadUsage
from hoglet.kit.json import JsonObject


def read_json_object(option: str, text: str) -> JsonObject:
    """Parse the JSON object given to an option.

    Args:
        option: its name, for errors.
        text: ``{"a": 1}``, the path of a file, or ``-``.

    Raises:
        BadUsage: no such file, not JSON, or JSON of another kind.
    """
    source = text if text.lstrip().startswith(("{", "[")) else _read(option, text)
    try:
        value = json.loads(source)
    except (ValueError, RecursionError) as error:
        raise BadUsage(f"{option} is not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise BadUsage(f"{option} must be a JSON object such as {{}}.")
    return value


def _read(option: str, text: str) -> str:
    try:
        return sys.stdin.read() if text == "-" else Path(text).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadUsage(
            f"{option} must be JSON or a file; {text} cannot be read: {reason}."
        ) from None

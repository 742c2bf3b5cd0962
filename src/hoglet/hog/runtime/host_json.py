"""The JSON of host data, bounded if the program may have made it large.

Host data is no larger than what the host was sent. A program that writes to its copy again and
again can put one long text into thousands of places: a megabyte of memory, and gigabytes of JSON,
for which the process would be killed.
"""

from typing import Any

import orjson

from hoglet.hog.runtime.budget import running
from hoglet.hog.runtime.convert import export_value, import_value
from hoglet.hog.runtime.plain_data import PLAIN_DATA, is_moderate, is_small


def host_json(value: Any) -> bytes:
    """The JSON of host data; tagged forms and whole floats as they are.

    Raises:
        TypeError, RecursionError: it is not plain JSON data.
        LimitExceeded: it is larger than the memory of the run.
    """
    run = running.thread.run
    if run is not None and run.writes_repeatedly and not _is_moderate(value):
        export_value(value)  # charges each part as often as it occurs
    return orjson.dumps(value, None, PLAIN_DATA)


def settled_copy(value: Any) -> Any:
    """A copy of host data that is not plain JSON data, as Hog returns it.

    What a program has put into it may contain itself, or one part again and again.
    """
    run = running.thread.run
    if run is not None and run.writes_repeatedly:
        value = export_value(value)
    return export_value(import_value(value))


def _is_moderate(value: Any) -> bool:
    try:
        return is_small(value) or is_moderate(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return False

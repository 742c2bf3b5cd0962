"""JSON containment: does a stored value contain a given one?

Source: docs/spec/hog-functions.md#8-list-row-1 (``filters``, ``filter_groups``).
"""

from typing import Any


def contains(stored: Any, wanted: Any) -> bool:
    """Objects by key, arrays as subsets, scalars by value (numbers never equal booleans).

    Example:
        >>> contains({"events": [{"id": "a", "order": 1}]}, {"events": [{"id": "a"}]})
        True
    """
    if isinstance(wanted, dict):
        return isinstance(stored, dict) and all(
            key in stored and contains(stored[key], value) for key, value in wanted.items()
        )
    if isinstance(wanted, list):
        return isinstance(stored, list) and all(
            any(contains(item, value) for item in stored) for value in wanted
        )
    if isinstance(stored, bool) or isinstance(wanted, bool):
        return stored is wanted
    return not isinstance(stored, dict | list) and stored == wanted

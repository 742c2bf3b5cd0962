"""Host data that programs return as it is: *settled* data.

It is plain JSON data without tagged forms, large integers, whole floats and lone surrogates, which
a result would have in another form. A host that runs many programs on its data can find this out
once, see :func:`is_settled`; a run then remembers whether all that it wrote into copies of the data
is settled, too, and returns such copies without looking at them again.
"""

from typing import Any, Final

import orjson

from hoglet.hog.runtime.budget import current
from hoglet.hog.runtime.plain_data import PLAIN_DATA, TAGS, has_tag, has_whole_float
from hoglet.hog.runtime.values import LARGEST_INTEGER

_OTHERS: Final = frozenset({bool, type(None)})


def is_settled(value: Any) -> bool:
    """Whether host data is settled; False if in doubt.

    For many values in one list it takes a third of the time that it takes for one after the other.
    """
    try:
        text = orjson.dumps(value, None, PLAIN_DATA)
    except (TypeError, RecursionError):
        return False
    return not (has_tag(text) or has_whole_float(text))


def is_settled_leaf(value: Any) -> bool:
    """Whether a value that a program writes is settled, and neither an array nor an object."""
    kind = type(value)
    if kind is str:
        return value.isascii() or _is_encodable(value)
    if kind is int:
        return -LARGEST_INTEGER <= value <= LARGEST_INTEGER
    return kind in _OTHERS or (kind is float and not value.is_integer())


def is_settled_key(key: Any) -> bool:
    """Whether settled data may have this key."""
    return type(key) is str and key not in TAGS and is_settled_leaf(key)


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def unsettle() -> None:
    """Record that the program wrote something else into a copy of the host's data."""
    current().is_settled = False

"""Evaluation order of inputs: each after those it refers to.

Source: docs/spec/hog-functions.md#43-templating-and-generated-keys (``order``).
"""

from collections.abc import Mapping, Sequence

from hoglet.kit.errors import Invalid


def evaluation_order(
    keys: Sequence[str], references: Mapping[str, set[str]], *, attr: str = "inputs"
) -> list[str]:
    """Sort inputs by their references; otherwise in the order of ``keys``.

    Args:
        keys: the inputs, in schema order.
        references: for each key, the keys its templates read; unknown ones are ignored.
        attr: the field of the error.

    Raises:
        Invalid: the references are circular.

    Example:
        >>> evaluation_order(["a", "b"], {"a": {"b"}})
        ['b', 'a']
    """
    waiting = {key: references.get(key, set()) & set(keys) for key in keys}
    ordered: list[str] = []
    while waiting:
        ready = next((key for key in keys if key in waiting and not waiting[key]), None)
        if ready is None:
            names = ", ".join(waiting)
            raise Invalid(f"Circular dependency between the inputs: {names}.", attr=attr)
        del waiting[ready]
        ordered.append(ready)
        for needed in waiting.values():
            needed.discard(ready)
    return ordered

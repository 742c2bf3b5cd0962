"""Guards recursive tree walks: excessive nesting is reported as a source error, never a crash."""

from collections.abc import Callable

from hoglet.kit.errors import SourceError


def guarded[Result](work: Callable[[], Result]) -> Result:
    """The result of ``work``.

    Raises:
        SourceError: the nesting exceeds Python's recursion limit.
    """
    try:
        return work()
    except RecursionError:
        raise SourceError("The source is nested too deeply") from None

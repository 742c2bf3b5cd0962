"""Work that walks a tree: what is nested too deeply is the author's error, never a crash."""

from collections.abc import Callable

from hoglet.kit.errors import SourceError


def guarded[Result](work: Callable[[], Result]) -> Result:
    """The result of ``work``.

    Raises:
        SourceError: it needed more nested calls than Python allows.
    """
    try:
        return work()
    except RecursionError:
        raise SourceError("The source is nested too deeply") from None

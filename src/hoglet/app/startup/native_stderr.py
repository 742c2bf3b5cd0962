"""Captures what native libraries write to standard error."""

import contextlib
import os
import sys
from collections.abc import Generator

_KEPT_BYTES = 8000


@contextlib.contextmanager
def native_stderr() -> Generator[None]:
    """Capture standard error, where the embedded warehouse prints why it cannot be opened.

    Afterwards the text is written as usual; if the block raises, it becomes a note of the error.
    """
    if not hasattr(os, "memfd_create"):
        yield
        return
    held, real = os.memfd_create("stderr"), os.dup(2)
    sys.stderr.flush()
    os.dup2(held, 2)
    try:
        yield
    except Exception as error:
        error.add_note(_content(held)[:_KEPT_BYTES].decode(errors="replace"))
        os.ftruncate(held, 0)
        raise
    finally:
        sys.stderr.flush()
        os.dup2(real, 2)
        with contextlib.suppress(OSError):
            os.write(2, _content(held))
        os.close(held)
        os.close(real)


def _content(descriptor: int) -> bytes:
    return os.pread(descriptor, os.fstat(descriptor).st_size, 0)

"""Runs a command; interrupts and a closed standard output become exit codes. Imports little."""

import errno
import io
import os
import sys
from collections.abc import Callable

_INTERRUPTED = 130  # as shells report SIGINT
_FAILED = 1
_MOMENT = 0.01  # seconds
_OUTPUT_LOST = frozenset({errno.ENOSPC, errno.EIO, errno.EBADF, errno.EDQUOT, errno.EFBIG})


def guarded(command: Callable[[], object]) -> None:
    """Run a command; interrupts and failures of standard output are exit codes.

    A character that the terminal cannot show is printed as a question mark.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        try:
            command()
        finally:
            if sys.stdout is not None:  # closed by the caller
                sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except BrokenPipeError:  # the reader closed the pipe, as head does
        _drop_output()
        sys.exit(_FAILED)
    except OSError as error:
        if error.filename is not None or error.errno not in _OUTPUT_LOST:
            raise
        _drop_output()
        print(f"Standard output cannot be written: {error.strerror}.", file=sys.stderr)
        sys.exit(_FAILED)


def keep_interrupts(*, ignore_incomplete_objects: bool) -> None:
    """Let Ctrl-C end the command wherever it arrives.

    Python prints an interrupt of a destructor or of a weak reference's callback, and goes on.

    Args:
        ignore_incomplete_objects: do not report that a destructor lacks an attribute. Ctrl-C can
            end a constructor, for example of a response of ``http.client``, whose destructor then
            fails; Python would print that after a command that ends quietly.
    """

    def report(unraisable: "sys.UnraisableHookArgs") -> None:
        if unraisable.exc_type is KeyboardInterrupt:
            _interrupt_again()
        elif not (ignore_incomplete_objects and unraisable.exc_type is AttributeError):
            sys.__unraisablehook__(unraisable)

    sys.unraisablehook = report


def _interrupt_again() -> None:
    """Send SIGINT to the process once the callback that was interrupted has returned."""
    import signal  # imported here, as this module imports little
    import threading

    threading.Timer(_MOMENT, os.kill, [os.getpid(), signal.SIGINT]).start()


def _drop_output() -> None:
    """Redirect buffered output to the null device, because the interpreter flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

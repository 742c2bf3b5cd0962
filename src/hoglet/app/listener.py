"""The socket that the server listens on, bound before any work begins."""

import errno
import socket
from typing import Any

from hoglet.app.startup_faults import StartupFault

BACKLOG = 1024


def bind(host: str, port: int) -> socket.socket:
    """A bound TCP socket that nobody else shares; it does not listen yet.

    Without ``SO_REUSEPORT``: a second server on the port would get a part of the requests.

    Args:
        host: an address of this machine, or a name of one.
        port: 0 for any free one.

    Raises:
        StartupFault: the address cannot be listened on.
    """
    family, address = _resolve(host, port)
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise _fault(error, host, port) from None
    return listener


def listen(listener: socket.socket) -> None:
    """Take connections from now on; they wait until the server is ready.

    Raises:
        StartupFault: another process began to listen on the port meanwhile.
    """
    try:
        listener.listen(BACKLOG)
    except OSError as error:
        host, port = listener.getsockname()[:2]
        raise _fault(error, host, port) from None


def _resolve(host: str, port: int) -> tuple[socket.AddressFamily, Any]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise StartupFault(
            f'The address to listen on (--host or HOGLET_HOST) is "{host}", which is no address '
            "of this machine; 127.0.0.1 listens on this machine only, 0.0.0.0 on all networks."
        ) from None
    family, _, _, _, address = found[0]
    return family, address


def _fault(error: OSError, host: str, port: int) -> StartupFault:
    match error.errno:
        case errno.EADDRINUSE:
            text = (
                f"Port {port} of {host} is in use by another process: stop that one, or choose "
                "another --port."
            )
        case errno.EADDRNOTAVAIL:
            text = (
                f"This machine has no address {host}: choose another --host; 127.0.0.1 listens on "
                "this machine only, 0.0.0.0 on all networks."
            )
        case errno.EACCES:
            text = (
                f"Port {port} needs a right that this user has not: choose a --port from 1024 on, "
                "or grant CAP_NET_BIND_SERVICE."
            )
        case _:
            text = f"hoglet cannot listen on {host} port {port}: {error.strerror or error}."
    return StartupFault(text)

"""The listening socket of the server, bound before any other work."""

import errno
import socket
from typing import Any

from hoglet.app.startup.errors import StartupFault

BACKLOG = 1024


def bind(host: str, port: int) -> socket.socket:
    """Bind an exclusive TCP socket; it does not listen yet.

    ``SO_REUSEPORT`` is not set, because a second server on the port would get some requests.

    Args:
        host: an address of this machine, or a name of one.
        port: 0 for any free port.

    Raises:
        StartupFault: the address cannot be used.
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


def check_free(host: str, port: int) -> None:
    """Check that a port is free before a process is started on it.

    Raises:
        StartupFault: see :func:`bind`.
    """
    bind(host, port).close()


def listen(listener: socket.socket) -> None:
    """Start listening; connections wait until the server is ready.

    Raises:
        StartupFault: another process started listening on the port in the meantime.
    """
    try:
        listener.listen(BACKLOG)
    except OSError as error:
        host, port = listener.getsockname()[:2]
        raise _fault(error, host, port) from None


def _resolve(host: str, port: int) -> tuple[socket.AddressFamily, Any]:
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise StartupFault(
            f'The address to listen on (--host or HOGLET_HOST) is "{host}", which is '
            "not an address of this machine; 127.0.0.1 listens on this machine only, "
            "0.0.0.0 on all networks."
        ) from None
    family, _, _, _, address = addresses[0]
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
                f"This machine does not have the address {host}: choose another "
                "--host; 127.0.0.1 listens on this machine only, 0.0.0.0 on all "
                "networks."
            )
        case errno.EACCES:
            text = (
                f"Port {port} requires a privilege that this user lacks: choose a "
                "--port from 1024, or grant CAP_NET_BIND_SERVICE."
            )
        case _:
            text = f"hoglet cannot listen on {host} port {port}: {error.strerror or error}."
    return StartupFault(text)

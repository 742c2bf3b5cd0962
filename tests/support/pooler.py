"""A connection pooler before PostgreSQL that lends a connection for one transaction at a time.

Nothing of a session outlives its transaction, as with PgBouncer's ``pool_mode = transaction``:
the next transaction of a client may have another connection, with what others left in it.
"""

import contextlib
import queue
import selectors
import socket
import struct
import threading
from collections.abc import Generator

import psycopg
from sqlalchemy.engine import URL, make_url

_INT = struct.Struct("!i")
_SSL, _GSS, _CANCEL = 80877103, 80877104, 80877102
_KEY = b"K" + _INT.pack(12) + _INT.pack(1) + _INT.pack(1)  # names no process
_READY = b"Z" + _INT.pack(5) + b"I"
_TERMINATE = b"X"
_ENDS_WITH_READY = (b"Q", b"S")  # a simple query, or the end of a series of messages


class _Stream:
    """The messages of one side of a connection."""

    def __init__(self, peer: socket.socket) -> None:
        self.socket = peer
        self._buffer = b""

    def exactly(self, size: int) -> bytes:
        while len(self._buffer) < size:
            self._fill()
        taken, self._buffer = self._buffer[:size], self._buffer[size:]
        return taken

    def message(self) -> tuple[bytes, bytes]:
        """A message's type, and all of its bytes."""
        head = self.exactly(5)
        return head[:1], head + self.exactly(_INT.unpack(head[1:])[0] - 4)

    def waiting(self) -> Generator[tuple[bytes, bytes]]:
        """The messages that can be read without waiting for another one to begin."""
        self._fill()
        while self._buffer:
            yield self.message()

    def _fill(self) -> None:
        read = self.socket.recv(1 << 20)
        if not read:
            raise ConnectionResetError
        self._buffer += read


class TransactionPooler:
    """Shares a few connections to one database between any number of clients.

    Args:
        database: the address of the database, on a socket in a folder.
        size: number of connections.
    """

    def __init__(self, database: URL, size: int) -> None:
        self._database = database
        self._free: queue.SimpleQueue[_Stream] = queue.SimpleQueue()
        self._is_closed = False
        with psycopg.connect(_plain(database)) as connection:
            names = ("server_version", "client_encoding", "standard_conforming_strings")
            values = {name: connection.info.parameter_status(name) for name in names}
        self._greeting = b"R" + _INT.pack(8) + _INT.pack(0) + _parameters(values) + _KEY + _READY
        for _ in range(size):
            self._free.put(self._connect())
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = database.set(
            host="127.0.0.1", port=self._listener.getsockname()[1], query={"sslmode": "disable"}
        ).render_as_string(hide_password=False)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Accept no more clients."""
        self._is_closed = True
        self._listener.close()

    def _connect(self) -> _Stream:
        folder = self._database.query["host"]
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{folder}/.s.PGSQL.{self._database.port or 5432}")
        options = f"user\0{self._database.username}\0database\0{self._database.database}\0\0"
        body = _INT.pack(196608) + options.encode()
        server.sendall(_INT.pack(len(body) + 4) + body)
        stream = _Stream(server)
        while (message := stream.message())[0] != b"Z":
            assert message[0] != b"E", message
        return stream

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self._serve, args=(_Stream(client),), daemon=True).start()

    def _serve(self, client: _Stream) -> None:
        with contextlib.suppress(OSError), client.socket:
            self._greet(client)
            while self._lend(client):
                pass

    def _greet(self, client: _Stream) -> None:
        while True:
            body = client.exactly(_INT.unpack(client.exactly(4))[0] - 4)
            code = _INT.unpack(body[:4])[0]
            if code == _CANCEL:
                raise ConnectionResetError
            if code not in {_SSL, _GSS}:
                break
            client.socket.sendall(b"N")
        client.socket.sendall(self._greeting)

    def _lend(self, client: _Stream) -> bool:
        """Serve one transaction; False if the client has left."""
        first = list(client.waiting())
        if first[0][0] == _TERMINATE:
            return False
        server = self._free.get()
        try:
            _exchange(client, server, first)
        except OSError:
            server.socket.close()  # in the middle of a transaction
            if not self._is_closed:
                self._free.put(self._connect())
            raise
        self._free.put(server)
        return True


def _exchange(client: _Stream, server: _Stream, messages: list[tuple[bytes, bytes]]) -> None:
    """Forward messages in both directions until the transaction has ended."""
    expected, is_idle = 0, True
    with selectors.DefaultSelector() as selector:
        for each in (client, server):
            selector.register(each.socket, selectors.EVENT_READ)
        while True:
            if any(kind == _TERMINATE for kind, _ in messages):
                raise ConnectionResetError
            expected += sum(kind in _ENDS_WITH_READY for kind, _ in messages)
            server.socket.sendall(b"".join(message for _, message in messages))
            messages = []
            for key, _ in selector.select():
                if key.fileobj is client.socket:
                    messages += client.waiting()
                    continue
                for kind, message in list(server.waiting()):
                    client.socket.sendall(message)
                    expected -= kind == b"Z"
                    is_idle = message == _READY
                if not expected and is_idle and not messages:
                    return


def _parameters(values: dict[str, str | None]) -> bytes:
    """The messages that report a server's parameters."""
    bodies = [f"{name}\0{value}\0".encode() for name, value in values.items()]
    return b"".join(b"S" + _INT.pack(len(body) + 4) + body for body in bodies)


def _plain(database: URL) -> str:
    return database.set(drivername="postgresql").render_as_string(hide_password=False)


@contextlib.contextmanager
def transaction_pooler(database_url: str, size: int) -> Generator[TransactionPooler]:
    """A pooler before a database; ``url`` leads through it."""
    pooler = TransactionPooler(make_url(database_url), size)
    try:
        yield pooler
    finally:
        pooler.close()

"""Decompresses request bodies within a limit. Pure."""

import zlib

ENCODINGS = frozenset({"gzip", "x-gzip", "deflate"})
"""Values of ``Content-Encoding`` that :func:`inflate` reads."""
UNREAD_ENCODINGS = frozenset({"br", "compress", "zstd"})
_ANY_ZLIB = zlib.MAX_WBITS | 32  # gzip or zlib, detected by the header
_MAX_MEMBERS = 16  # reading a member copies all bytes after it, so thousands would block


class NotCompressed(ValueError):
    """The data is not gzip or zlib, is truncated, or has too many parts."""


class InflatedTooLarge(ValueError):
    """The data is larger than the limit when decompressed."""


def inflate(data: bytes, limit_bytes: int) -> bytes:
    """The plain bytes of zlib data or of all members of a gzip file (``cat a.gz b.gz``).

    Raises:
        NotCompressed: it cannot be decompressed; the message is a sentence for the sender.
        InflatedTooLarge: more than ``limit_bytes``.

    Example:
        >>> inflate(zlib.compress(b"abc"), 3)
        b'abc'
    """
    parts: list[bytes] = []
    size = 0
    for _ in range(_MAX_MEMBERS):
        decompressor = zlib.decompressobj(_ANY_ZLIB)
        try:
            parts.append(decompressor.decompress(data, limit_bytes - size + 1))
        except zlib.error as error:
            raise NotCompressed(f"The body cannot be decompressed: {error}") from None
        size += len(parts[-1])
        if size > limit_bytes:
            raise InflatedTooLarge
        if not decompressor.eof:
            raise NotCompressed("The compressed body is truncated.")
        data = decompressor.unused_data.lstrip(b"\0")  # tools pad files with zeros
        if not data:
            return b"".join(parts)
    raise NotCompressed(f"The body consists of more than {_MAX_MEMBERS} compressed parts.")

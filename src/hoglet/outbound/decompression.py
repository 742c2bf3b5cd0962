"""Decompresses the bodies of responses within a limit. Pure.

aiohttp decompresses too, but takes a truncated body for a complete one: a program would then see an
empty success instead of a failure that is retried.
"""

import sys
import zlib
from collections.abc import Callable
from typing import Final

import brotli

from hoglet.kit.compression import InflatedTooLarge, NotCompressed, inflate

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ACCEPT_ENCODING: Final = "gzip, deflate, br, zstd"


def decompress(body: bytes, encoding: str, limit_bytes: int) -> bytes:
    """The plain bytes of a body; an empty one, or one with an unknown encoding, as it is.

    Args:
        body: the bytes as received.
        encoding: the value of ``Content-Encoding``, ``""`` if there is none.
        limit_bytes: largest result.

    Raises:
        NotCompressed: the body is truncated, or is not compressed in this way.
        InflatedTooLarge: more than ``limit_bytes``.

    Example:
        >>> decompress(zlib.compress(b"abc"), "deflate", 3)
        b'abc'
    """
    read = _READERS.get(encoding.strip().lower())
    return read(body, limit_bytes) if read and body else body


def _deflate(body: bytes, limit_bytes: int) -> bytes:
    if body[0] & 0xF == zlib.DEFLATED:  # RFC 1950
        return inflate(body, limit_bytes)
    decompressor = zlib.decompressobj(-zlib.MAX_WBITS)  # some servers leave out zlib's header
    try:
        plain = decompressor.decompress(body, limit_bytes + 1)
    except zlib.error as error:
        raise NotCompressed(f"The body cannot be decompressed: {error}") from None
    return _checked(plain, limit_bytes, is_complete=decompressor.eof)


def _brotli(body: bytes, limit_bytes: int) -> bytes:
    decompressor = brotli.Decompressor()
    try:
        plain = decompressor.process(body, output_buffer_limit=limit_bytes + 1)
    except brotli.error as error:
        raise NotCompressed(f"The body cannot be decompressed: {error}") from None
    return _checked(plain, limit_bytes, is_complete=decompressor.is_finished())


def _zstd(body: bytes, limit_bytes: int) -> bytes:
    plain = b""
    while body:  # frame by frame
        decompressor = zstd.ZstdDecompressor()
        try:
            plain += decompressor.decompress(body, limit_bytes - len(plain) + 1)
        except zstd.ZstdError as error:
            raise NotCompressed(f"The body cannot be decompressed: {error}") from None
        _checked(plain, limit_bytes, is_complete=decompressor.eof)
        body = decompressor.unused_data
    return plain


def _checked(plain: bytes, limit_bytes: int, *, is_complete: bool) -> bytes:
    if len(plain) > limit_bytes:
        raise InflatedTooLarge
    if not is_complete:
        raise NotCompressed("The compressed body is truncated.")
    return plain


_READERS: Final[dict[str, Callable[[bytes, int], bytes]]] = {
    "gzip": inflate,
    "x-gzip": inflate,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}

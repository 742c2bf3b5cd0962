"""Compressed bodies of responses: complete, truncated, wrong, and larger than the limit."""

import gzip
import sys
import zlib

import brotli
import pytest

from hoglet.kit.compression import InflatedTooLarge, NotCompressed
from hoglet.outbound.decompression import decompress

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PLAIN = b'{"ok": true}' * 20


def without_header(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush()


COMPRESSORS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    " GZIP ": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": without_header,
    "br": brotli.compress,
    "zstd": zstd.compress,
}


@pytest.mark.parametrize("encoding", COMPRESSORS)
def test_a_body_is_read_only_if_it_is_complete(encoding: str) -> None:
    packed = COMPRESSORS[encoding](PLAIN)

    assert decompress(packed, encoding, len(PLAIN)) == PLAIN
    for end in range(1, len(packed)):
        with pytest.raises(NotCompressed):
            decompress(packed[:end], encoding, len(PLAIN))


@pytest.mark.parametrize("encoding", COMPRESSORS)
def test_a_body_may_not_grow_over_the_limit(encoding: str) -> None:
    with pytest.raises(InflatedTooLarge):
        decompress(COMPRESSORS[encoding](PLAIN), encoding, len(PLAIN) - 1)
    with pytest.raises(InflatedTooLarge):
        decompress(COMPRESSORS[encoding](b"0" * 3_000_000), encoding, 4000)


@pytest.mark.parametrize("encoding", COMPRESSORS)
def test_plain_text_is_not_taken_for_compressed_text(encoding: str) -> None:
    with pytest.raises(NotCompressed):
        decompress(b"\x07 is not compressed", encoding, 4000)


@pytest.mark.parametrize("encoding", ["", "identity", "rot13", "gzip, br"])
def test_other_encodings_are_left_to_the_program(encoding: str) -> None:
    assert decompress(PLAIN, encoding, 10) == PLAIN


@pytest.mark.parametrize("encoding", COMPRESSORS)
def test_an_empty_body_is_empty(encoding: str) -> None:
    assert decompress(b"", encoding, 10) == b""


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_body_may_have_several_parts(encoding: str) -> None:
    pack = COMPRESSORS[encoding]

    assert decompress(pack(PLAIN) + pack(b"and more"), encoding, 4000) == PLAIN + b"and more"
    with pytest.raises(InflatedTooLarge):
        decompress(pack(PLAIN) + pack(b"and more"), encoding, len(PLAIN) + 1)

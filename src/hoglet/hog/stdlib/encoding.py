"""Base64, URL encoding, digests, addresses."""

import base64
import binascii
import hashlib
import hmac
import ipaddress
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote, unquote_to_bytes

from hoglet.hog.runtime import budget as meter
from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.formatting import as_text
from hoglet.hog.stdlib.arguments import plain_text, text, wrong
from hoglet.kit.json import encode_utf8

_URL_SAFE: Final = "-_.!~*'()"
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.!~*'()-]")
_URL_CODES: Final = [quote(bytes([byte]), safe=_URL_SAFE) for byte in range(256)]
_BAD_PERCENT: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_HALF: Final = re.compile("([\ud800-\udfff])")
_NOT_BASE64: Final = re.compile(r"[^A-Za-z0-9+/_-]")


def _bytes(value: str) -> bytes:
    if len(value) > meter.LARGE:
        meter.charge(len(value))
    return encode_utf8(value)


def base64_encode(value: Any) -> Any:
    if value is None:
        return None
    return base64.b64encode(_bytes(text("base64Encode", "text", value))).decode()


def base64_decode(value: Any) -> Any:
    if value is None:
        return None
    return _from_base64(text("base64Decode", "text", value))


def try_base64_decode(value: Any) -> Any:
    return _from_base64(value) if type(value) is str else None


def _from_base64(value: str) -> str:
    """Decode either alphabet up to the first ``=``; other characters are ignored."""
    if len(value) <= meter.LARGE and value.isascii():
        try:
            return binascii.a2b_base64(value, strict_mode=True).decode(errors="replace")
        except binascii.Error:
            pass
    meter.charge(len(value))
    digits = _NOT_BASE64.sub("", value.partition("=")[0])
    digits = digits[: len(digits) - (len(digits) % 4 == 1)]
    digits = digits.replace("-", "+").replace("_", "/") + "=" * (-len(digits) % 4)
    return base64.b64decode(digits).decode(errors="replace")


def encode_url(value: Any) -> Any:
    if value is None:
        return None
    source = value if type(value) is str else plain_text(value)
    if _UNSAFE.search(source) is None:
        return meter.charged(source)
    try:
        if len(source) <= meter.LARGE:
            return meter.charged("".join([_URL_CODES[byte] for byte in source.encode()]))
        meter.charge(3 * len(source))
        return "".join([quote(part, safe=_URL_SAFE) for part in meter.chunks(source)])
    except UnicodeEncodeError:
        raise EngineError("encodeURLComponent: the text contains half a surrogate pair") from None


def decode_url(value: Any) -> Any:
    if value is None:
        return None
    decoded = _from_url(value if type(value) is str else plain_text(value))
    if decoded is None:
        raise EngineError("decodeURLComponent: the argument text is not valid URL encoding")
    return decoded


def try_decode_url(value: Any) -> Any:
    if value is None:
        return None
    return _from_url(value if type(value) is str else plain_text(value))


def _from_url(value: str) -> str | None:
    if "%" not in value and value.isascii():
        return meter.charged(value)
    if len(value) <= meter.LARGE and value.isascii():
        return _from_short_url(value)
    meter.charged(value)
    if _BAD_PERCENT.search(value):
        return None
    try:
        if value.isascii():
            return _unescaped(value)
        return "".join([_unescaped(part) for part in _HALF.split(value)])
    except UnicodeDecodeError:
        return None


def _from_short_url(value: str) -> str | None:
    """Like :func:`_from_url`, for short ASCII strings.

    Quoted-printable has the same codes after another sign, and is decoded by C code.
    """
    if _BAD_PERCENT.search(value):
        return None
    quoted = value.encode().replace(b"=", b"=3D").replace(b"%", b"=")
    try:
        return binascii.a2b_qp(quoted).decode()
    except UnicodeDecodeError:
        return None


def _unescaped(value: str) -> str:
    """Decode percent codes; lone surrogates, which UTF-8 lacks, are unchanged."""
    if _HALF.match(value):
        return value
    return b"".join([unquote_to_bytes(part) for part in _url_parts(value)]).decode()


def _url_parts(value: str) -> Iterator[str]:
    """The text in pieces that do not split a percent code."""
    left = ""
    for part in meter.chunks(value):
        piece = left + part
        cut = piece.find("%", max(len(piece) - 2, 0))
        left = "" if cut < 0 else piece[cut:]
        yield piece if cut < 0 else piece[:cut]
    yield left


def generate_uuid() -> str:
    return meter.current().uuid()


# --- digests


def _digest(name: str, value: Any, form: Any) -> Any:
    if value is None:
        return None
    data = _bytes(text(name, "data", value))
    digest = _ALGORITHMS[name](data, usedforsecurity=False)
    return digest.hexdigest() if form is None else _encoded(name, digest.digest(), form)


_ALGORITHMS: Final[dict[str, Any]] = {
    "md5": hashlib.md5,
    "sha1": hashlib.sha1,
    "sha256": hashlib.sha256,
}


def _encoded(function: str, digest: bytes, form: Any) -> str:
    if form is None or form == "hex":
        return digest.hex()
    if form == "base64":
        return base64.b64encode(digest).decode()
    if form == "base64url":
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")
    if form == "binary":
        return digest.decode("latin-1")
    raise EngineError(f"{function}: unknown encoding {as_text(form)}")


def md5(value: Any, form: Any = None) -> Any:
    return _digest("md5", value, form)


def sha1(value: Any, form: Any = None) -> Any:
    return _digest("sha1", value, form)


def sha256(value: Any, form: Any = None) -> Any:
    return _digest("sha256", value, form)


def _hexadecimal(name: str) -> Callable[[Any], Any]:
    """A function that returns the hexadecimal digest; short texts are hashed directly."""
    hashed = _ALGORITHMS[name]

    def digest(value: Any) -> Any:
        if type(value) is str and value.isascii() and len(value) <= meter.LARGE:
            return hashed(value.encode(), usedforsecurity=False).hexdigest()
        return _digest(name, value, None)

    return digest


md5_hex = _hexadecimal("md5")
sha1_hex = _hexadecimal("sha1")
sha256_hex = _hexadecimal("sha256")


def sha256_hmac_chain(value: Any, form: Any = None) -> Any:
    return _chain("sha256HmacChain", "sha256", value, form)


def sha1_hmac_chain(value: Any, form: Any = None) -> Any:
    return _chain("sha1HmacChain", "sha1", value, form)


def sha256_hmac_chain_hex(value: Any) -> Any:
    return _chain("sha256HmacChainHex", "sha256", value, None)


def sha1_hmac_chain_hex(value: Any) -> Any:
    return _chain("sha1HmacChainHex", "sha1", value, None)


def _chain(function: str, algorithm: str, value: Any, form: Any) -> Any:
    if value is None:
        return None
    if not isinstance(value, list):
        wrong(function, "data", "an array", value)
    if len(value) < 2:
        raise EngineError("Data array must contain at least two elements.")
    key = _bytes(text(function, "data", value[0]))
    for item in value[1:]:
        key = hmac.new(key, _bytes(text(function, "data", item)), algorithm).digest()
    return _encoded(function, key, form)


def is_address_in_range(address: Any, network: Any) -> bool:
    if type(address) is not str or type(network) is not str or "/" not in network:
        return False
    parse = _known_network if len(network) <= _LONGEST_NETWORK else _network
    try:
        return ipaddress.ip_address(address) in parse(network)
    except ValueError:
        return False


_LONGEST_NETWORK: Final = 64


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    return ipaddress.ip_network(text, strict=False)


_known_network = lru_cache(maxsize=512)(_network)  # programs test many addresses for a few ranges

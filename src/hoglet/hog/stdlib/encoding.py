"""Base64, URL encoding, digests, addresses."""

import base64
import binascii
import hashlib
import hmac
import ipaddress
import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote, unquote_to_bytes

from hoglet.hog.runtime import budget as meter
from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.formatting import as_text
from hoglet.hog.stdlib.arguments import text, wrong
from hoglet.kit.text import encode_utf8

_URL_SAFE: Final = "-_.!~*'()"
_BAD_PERCENT: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_NOT_BASE64: Final = re.compile(r"[^A-Za-z0-9+/]")


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
    decoded = _from_base64(text("base64Decode", "text", value))
    if decoded is None:
        raise EngineError("base64Decode: the argument text is not base64")
    return decoded


def try_base64_decode(value: Any) -> Any:
    return _from_base64(value) if type(value) is str else None


def _from_base64(value: str) -> str | None:
    stripped = value.strip().rstrip("=").replace("-", "+").replace("_", "/")
    if _NOT_BASE64.search(stripped) or len(stripped) % 4 == 1:
        return None
    meter.charge(len(stripped))
    try:
        return base64.b64decode(stripped + "=" * (-len(stripped) % 4)).decode(errors="replace")
    except (binascii.Error, ValueError):
        return None


def encode_url(value: Any) -> Any:
    if value is None:
        return None
    source = as_text(value)
    meter.charge(3 * len(source))
    try:
        return "".join([quote(part, safe=_URL_SAFE) for part in meter.chunks(source)])
    except UnicodeEncodeError:
        raise EngineError("encodeURLComponent: the text holds half a character") from None


def decode_url(value: Any) -> Any:
    if value is None:
        return None
    decoded = _from_url(as_text(value))
    if decoded is None:
        raise EngineError("decodeURLComponent: the argument text is not URL encoding")
    return decoded


def try_decode_url(value: Any) -> Any:
    return None if value is None else _from_url(as_text(value))


def _from_url(value: str) -> str | None:
    if _BAD_PERCENT.search(value):
        return None
    meter.charged(value)
    try:
        return b"".join([unquote_to_bytes(part) for part in _url_parts(value)]).decode()
    except UnicodeError:
        return None


def _url_parts(value: str) -> Iterator[str]:
    """The text in pieces that end between characters, a code of three taken for one."""
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
    return _shown(name, _ALGORITHMS[name](data, usedforsecurity=False).digest(), form)


_ALGORITHMS: Final[dict[str, Any]] = {
    "md5": hashlib.md5,
    "sha1": hashlib.sha1,
    "sha256": hashlib.sha256,
}


def _shown(function: str, digest: bytes, form: Any) -> str:
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


def md5_hex(value: Any) -> Any:
    return _digest("md5", value, None)


def sha1_hex(value: Any) -> Any:
    return _digest("sha1", value, None)


def sha256_hex(value: Any) -> Any:
    return _digest("sha256", value, None)


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
    return _shown(function, key, form)


def is_address_in_range(address: Any, network: Any) -> bool:
    if type(address) is not str or type(network) is not str or "/" not in network:
        return False
    try:
        return ipaddress.ip_address(address) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False

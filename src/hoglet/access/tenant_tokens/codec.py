"""The form of tenant tokens: ``pht_`` and a JSON Web Token signed with HMAC-SHA256. Pure.

Servers of customers create tokens with any JWT library, so header and claims are those of JWT::

    {"alg": "HS256", "typ": "JWT", "kid": "9f2c4d…"}
    {"project": 1, "endpoints": ["by_plan"], "variables": {"tenant": "acme"},
     "iat": 1767600000, "exp": 1767603600}

The algorithm is fixed: a token whose header names another one is refused before its signature is
checked.
"""

import base64
import hashlib
import hmac
import math
import re
from datetime import datetime
from typing import Any

import msgspec
import orjson

from hoglet.access.principals import TenantGrant, VariableValues
from hoglet.kit.errors import Unauthenticated

TENANT_PREFIX = "pht_"
MAX_TOKEN_CHARACTERS = 4096  # request headers are commonly limited to 8 KB
MAX_ENDPOINTS = 100
MAX_VARIABLES = 50
MAX_VALUES = 1000
MAX_TOKEN_SECONDS = 30 * 86_400
SKEW_SECONDS = 60  # how far the clock of a customer's server may be ahead
_SMALLEST, _LARGEST = -(2**63), 2**64 - 1  # the integers that orjson can write
_ALGORITHM = "HS256"
_PART = re.compile(r"[A-Za-z0-9_-]+")


class _Header(msgspec.Struct, frozen=True):
    alg: str
    kid: str
    typ: str = "JWT"
    crit: Any = None


class _Claims(msgspec.Struct, frozen=True):
    project: int
    endpoints: list[str]
    exp: int
    iat: int
    variables: VariableValues = {}
    nbf: int = 0


class SignedToken(msgspec.Struct, frozen=True):
    """A token whose signature is not verified yet; ``key_id`` says which key to verify with."""

    key_id: str
    signed: bytes
    claims: bytes
    signature: bytes


def sign_token(
    key_id: str,
    secret: str,
    *,
    project_id: int,
    grant: TenantGrant,
    issued_at: datetime,
    expires_at: datetime,
) -> str:
    """A token, ``pht_…``.

    Args:
        key_id: the id of the signing key.
        secret: the text of the signing key.
        project_id: the project id of the endpoints.
        grant: what the token may run.
        issued_at: now.
        expires_at: at most :data:`MAX_TOKEN_SECONDS` later.
    """
    claims = {
        "project": project_id,
        "endpoints": sorted(grant.endpoints),
        "variables": grant.variables,
        "iat": int(issued_at.timestamp()),
        "exp": int(expires_at.timestamp()),
    }
    header = {"alg": _ALGORITHM, "typ": "JWT", "kid": key_id}
    signed = b".".join(_encode(orjson.dumps(part)) for part in (header, claims))
    return f"{TENANT_PREFIX}{(signed + b'.' + _encode(_hmac(secret, signed))).decode()}"


def read_token(token: str) -> SignedToken:
    """The parts of a token.

    Raises:
        Unauthenticated: not a tenant token, or signed with another algorithm.
    """
    parts = token.removeprefix(TENANT_PREFIX).split(".")
    if len(token) > MAX_TOKEN_CHARACTERS or len(parts) != 3 or not all(map(_PART.fullmatch, parts)):
        raise invalid_token("is malformed")
    try:
        header = msgspec.json.decode(_decode(parts[0]), type=_Header)
        claims, signature = _decode(parts[1]), _decode(parts[2])
    except (ValueError, msgspec.MsgspecError):
        raise invalid_token("is malformed") from None
    if header.alg != _ALGORITHM or header.crit is not None:
        raise invalid_token(f"must be signed with {_ALGORITHM}")
    return SignedToken(header.kid, f"{parts[0]}.{parts[1]}".encode(), claims, signature)


def verify_token(token: SignedToken, secret: str, *, project_id: int, now: datetime) -> TenantGrant:
    """What a token may run.

    Args:
        token: the result of :func:`read_token`.
        secret: the text of the signing key that it names.
        project_id: the project id of the signing key.
        now: decides whether it has expired.

    Raises:
        Unauthenticated: the signature or a claim is wrong, or it has expired.
    """
    if not hmac.compare_digest(_hmac(secret, token.signed), token.signature):
        raise invalid_token("has a wrong signature")
    try:
        claims = msgspec.json.decode(token.claims, type=_Claims)
    except msgspec.MsgspecError as error:
        raise invalid_token(f"has a wrong claim: {error}") from None
    if claims.project != project_id:
        raise invalid_token("names a project to which its signing key does not belong")
    _check_times(claims, now.timestamp())
    problem = grant_problem(claims.endpoints, claims.variables)
    if problem is not None:
        raise invalid_token(f"has a wrong claim: {problem[1]}")
    return TenantGrant.of(claims.endpoints, claims.variables)


def grant_problem(endpoints: list[str], variables: VariableValues) -> tuple[str, str] | None:
    """The wrong field of a grant and what is wrong with it.

    Null is refused: for the breakdown of an insight, it would mean no restriction at all. Integers
    have at most 64 bits, as in the values that a run sends.
    """
    if not 1 <= len(endpoints) <= MAX_ENDPOINTS:
        return "endpoints", f"A token names 1 to {MAX_ENDPOINTS} endpoints."
    if len(variables) > MAX_VARIABLES:
        return "variables", f"A token fixes at most {MAX_VARIABLES} variables."
    for name, value in variables.items():
        values = value if isinstance(value, list) else [value]
        is_scalar = all(isinstance(each, str | int | float | bool) for each in values)
        if not is_scalar or not 1 <= len(values) <= MAX_VALUES:
            return "variables", f"The value of {name} must be a scalar or a list of scalars."
        if not all(map(_fits_in_json, values)):
            return "variables", f"The value of {name} is not finite, or has more than 64 bits."
    return None


def _fits_in_json(value: Any) -> bool:
    if isinstance(value, int):
        return _SMALLEST <= value <= _LARGEST
    return not isinstance(value, float) or math.isfinite(value)


def invalid_token(reason: str) -> Unauthenticated:
    """401 for a tenant token."""
    return Unauthenticated(f"The tenant token {reason}.", code="authentication_failed")


def _check_times(claims: _Claims, now: float) -> None:
    if claims.exp <= now:
        raise invalid_token("has expired")
    if claims.iat > now + SKEW_SECONDS or claims.nbf > now + SKEW_SECONDS:
        raise invalid_token("is not valid yet; check the clock of the server that created it")
    if claims.exp <= claims.iat:
        raise invalid_token("expires before it is issued")
    if claims.exp - claims.iat > MAX_TOKEN_SECONDS:
        raise invalid_token(f"is valid for longer than {MAX_TOKEN_SECONDS} seconds")


def _hmac(secret: str, signed: bytes) -> bytes:
    return hmac.new(secret.encode(), signed, hashlib.sha256).digest()


def _encode(part: bytes) -> bytes:
    return base64.urlsafe_b64encode(part).rstrip(b"=")


def _decode(part: str) -> bytes:
    """The bytes of a part.

    Raises:
        ValueError: unused bits of its last character are set, which signatures do not cover.
    """
    decoded = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    if _encode(decoded) != part.encode():
        raise ValueError("not canonical base64")
    return decoded
